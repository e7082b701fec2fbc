import type { Request, Response } from 'express'
import { PlatformError } from '../../connect/errors.ts'
import { problemOf, recordFailure, setStatus } from './problem.ts'
import { wantsJson } from './respond.ts'

/** The state of a form that is shown again. */
interface RejectedForm {
  /** The submitted values. */
  values: Record<string, unknown>
  message: string
  /** The message without the name of the field. The page begins it with a capital and shows it beside the field. */
  rule: string
  /** The field that the message is about, if any. */
  field: string | null
  /** Whether the platform has not carried out the request. */
  unchanged: boolean
  /** Whether it may have done so, and the message does not say it. */
  mayBeDone: boolean
  /** Whether granting a missing permission would help. */
  needsConsent: boolean
  requestId: string
}

/**
 * Responds to a failed form submission. A browser gets the page again, with the submitted values and the message.
 * Rethrows the error for clients that request JSON, and if there is no user or connection to show the form for.
 */
export async function rejectForm(
  req: Request,
  res: Response,
  error: unknown,
  page: () => Promise<{ view: string; title: string; data: Record<string, unknown> }>,
): Promise<void> {
  const problem = problemOf(error)
  // Without a user or a connection, there is no page to show the form on.
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
