import { Router } from 'express'
import type * as z from 'zod'
import { leaveNotice, problem } from '../../../pages.ts'
import { ownBusiness } from '../business-setup/index.ts'

/**
 * What suppliers register with the platform in Business setup, such as a webhook. A business has at most one: the one of `atStart`,
 * until the form replaces it. A form with an empty `url` removes it.
 */
export function createRegistrations<T>(name: string, schema: z.ZodType<T>, atStart: Record<string, T>) {
  const registered = new Map<string, T>()
  const reset = () => {
    registered.clear()
    for (const [bxcontext, value] of Object.entries(atStart)) registered.set(bxcontext, value)
  }
  const form = Router().post(`/business-setup/:bxcontext/${name}`, (req, res) => {
    const business = ownBusiness(req, res)
    if (!business) return
    const { data } = schema.safeParse(req.body)
    const rule =
      'Enter an http or https address without user, query or #. Live pricing also needs an ID and a secret.'
    if (data) registered.set(business.bxcontext, data)
    else if (req.body?.url === '') registered.delete(business.bxcontext)
    else return problem(res, 400, rule, req.account)
    leaveNotice(res, data ? 'It was saved. From now on, requests are sent there.' : 'It was removed.')
    res.redirect(303, '/business-setup')
  })
  return { find: (bxcontext: string) => registered.get(bxcontext), reset, form }
}
