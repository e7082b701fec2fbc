/** The customer view: a switch hides the pages and links for developers, here and in the sandbox, for a demo to customers. */
import { type Request, type RequestHandler, type Response, Router } from 'express'
import * as z from 'zod'
import { WebError } from '../requests/errors.ts'
import { returnToField, switchField } from '../requests/form-fields.ts'
import { sendResultOrRedirect } from '../requests/respond.ts'
import { requireUser } from '../sign-in/user.ts'

/** Cookies ignore ports, so the sandbox of the demo also gets this cookie. */
const COOKIE = 'customer_view'

const switchSchema = z.object({ on: switchField, returnTo: returnToField })

/** Whether the customer view is on in this browser. */
export const isCustomerView = (req: Request): boolean =>
  new RegExp(`(^|; )${COOKIE}=1(;|$)`).test(req.get('cookie') ?? '')

/** Guards the pages for developers: throws `not_found` (404) while they are hidden. */
export const developerPage: RequestHandler = (req, _res, next) =>
  next(isCustomerView(req) ? new WebError(404, 'not_found') : undefined)

/** Shows the pages for developers again. */
export const showDeveloperPages = (res: Response): void => void res.clearCookie(COOKIE)

/** The route of the switch, which pages show if the app uses the sandbox. */
export function customerViewRoute(): Router {
  return Router().post('/', async (req, res) => {
    requireUser(req)
    const { on, returnTo } = switchSchema.parse(req.body ?? {})
    if (on) res.cookie(COOKIE, '1', { httpOnly: true, sameSite: 'lax', secure: req.secure })
    else showDeveloperPages(res)
    await sendResultOrRedirect(req, res, returnTo ?? '/connections', { on })
  })
}
