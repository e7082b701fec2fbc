import { type Request, Router } from 'express'
import * as z from 'zod'
import { describeRoute } from '../connect/express.ts'
import { badInput, rejectForm, signInFailed } from './errors.ts'
import { sendResultOrRedirect } from './respond.ts'
import { localPath } from './return-to.ts'
import { texts } from './texts.ts'
import { currentUser, signIn, signOut } from './user.ts'

/** The warning on every page and in the log if `DEMO_ALLOW_REMOTE` is true. */
export const OPEN_DEMO = texts.signIn.openDemo

/**
 * The demo's sign-in: anyone, under any name. The app refuses to start in production with it. `requestedScopes`: shown on
 * the start page after an invalid name.
 */
export function demoSignIn({ requestedScopes }: { requestedScopes: readonly string[] }): Router {
  return (
    Router()
      .post(
        '/sign-in',
        describeRoute({
          summary: 'Signs in with the demo sign-in. Fields: `name`, and `returnTo` (a path of this app).',
          body: z.object({ name: z.string(texts.signIn.nameRule), returnTo: z.string().optional() }),
          response: z.object({ user: z.object({ name: z.string() }) }),
        }),
        async (req, res) => {
          const name = typeof req.body?.name === 'string' ? req.body.name.normalize('NFC').trim() : ''
          if (!name || name.length > 100 || /\p{Cc}/u.test(name) || !name.isWellFormed()) {
            const error = badInput('name', texts.signIn.nameRule)
            return rejectForm(req, res, error, async () => ({
              view: 'app/home',
              title: texts.home.pageTitle,
              data: { requestedScopes, returnTo: localPath(req.body?.returnTo) },
            }))
          }
          await signIn(req, { id: name, name })
          const target = localPath(req.body.returnTo) ?? '/'
          const next = mayBlockCookies(req)
            ? `/signed-in?${new URLSearchParams({ returnTo: target })}`
            : target
          await sendResultOrRedirect(req, res, next, { user: { name } })
        },
      )
      // Without a cookie, the next page would show the sign-in form again with no explanation.
      .get(
        '/signed-in',
        describeRoute({
          summary:
            "After the demo's sign-in, for a browser that has sent no cookie before: redirects to `returnTo`, or says that the browser blocks cookies.",
          query: z.object({ returnTo: z.string().optional() }),
          errors: ['sign_in_failed'],
        }),
        (req, res) => {
          if (!currentUser(req)) throw signInFailed(texts.signIn.cookiesBlocked)
          res.redirect(303, localPath(req.query.returnTo) ?? '/')
        },
      )
      .post(
        '/sign-out',
        describeRoute({ summary: 'Signs out.', response: z.object({ user: z.null() }) }),
        async (req, res) => {
          await signOut(req)
          await sendResultOrRedirect(req, res, '/', { user: null })
        },
      )
  )
}

/** Whether this is a browser that sent no cookie: on its first visit, or because it blocks them. */
const mayBlockCookies = (req: Request) =>
  req.headers.cookie === undefined && req.get('sec-fetch-mode') === 'navigate'
