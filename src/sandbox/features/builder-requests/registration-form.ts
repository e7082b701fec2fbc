import type { RequestHandler } from 'express'
import type * as z from 'zod'
import { ownBusiness } from '../../business-setup.ts'
import { leaveNotice, problem } from '../../pages.ts'

/**
 * The form of Business setup for what a supplier registers, such as a webhook, by bxcontext: without a `url`, it is removed.
 * `texts`: what the next page says.
 */
export function registrationForm<T>(
  registered: Map<string, T>,
  schema: z.ZodType<T>,
  texts: { saved: string; removed: string; invalid: string },
): RequestHandler {
  return (req, res) => {
    const business = ownBusiness(req, res)
    if (!business) return
    const { data } = schema.safeParse(req.body)
    if (data) registered.set(business.bxcontext, data)
    else if (req.body?.url === '') registered.delete(business.bxcontext)
    else return problem(res, 400, texts.invalid, req.account)
    leaveNotice(res, data ? texts.saved : texts.removed)
    res.redirect(303, '/business-setup')
  }
}
