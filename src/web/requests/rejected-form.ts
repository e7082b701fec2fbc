import type { Request, Response } from 'express'
import { PlatformError } from '../../connect/errors.ts'
import { problemOf, recordFailure, setStatus } from './problem.ts'
import { wantsJson } from './respond.ts'

/** The state of a form that the page shows again. */
interface RejectedForm {
  /** The submitted values. */
  values: Record<string, unknown>
  message: string
  /** The message without the name of the field. The page begins it with a capital and shows it beside the field. */
  rule: string
  /** The invalid field, if the message concerns a field. */
  field: string | null
  /** Whether the request was certainly not carried out. */
  unchanged: boolean
  /** Whether the request may have been carried out, but the message does not mention that. */
  mayBeDone: boolean
  /** Whether granting a missing permission would help. */
  needsConsent: boolean
  requestId: string
}

/**
 * Responds to a failed form submission. A browser gets the page again, with the submitted values and the message. Rethrows the
 * error for clients that request JSON, or if the form's user or connection is missing.
 */
export async function rejectForm(
  req: Request,
  res: Response,
  error: unknown,
  page: () => Promise<{ view: string; title: string; data: Record<string, unknown> }>,
): Promise<void> {
  const problem = problemOf(error)
  // Without a user or a connection, the page of the form can't be shown.
  if (wantsJson(req) || problem.next === 'connect' || problem.next === 'signIn') throw error
  recordFailure(res, error, problem)
  const { view, title, data } = await page()
  setStatus(res, problem)
  res.vary('Accept')
  const field = typeof problem.extensions?.field === 'string' ? problem.extensions.field : null
  const isUnknown = problem.code === 'outcome_unknown'
  const unchanged = problem.status < 500 || (error instanceof PlatformError && !isUnknown)
  const form: RejectedForm = {
    values: req.body ?? {},
    message: problem.detail,
    rule: problem.rule ?? problem.detail,
    field,
    unchanged,
    mayBeDone: !unchanged && !isUnknown,
    needsConsent: problem.next === 'consent',
    requestId: req.id,
  }
  res.page(view, { title, ...data, form })
}
