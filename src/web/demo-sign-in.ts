import { Router } from 'express'
import { badInput, rejectForm } from './errors.ts'
import { sendResultOrRedirect } from './respond.ts'
import { localPath } from './return-to.ts'
import { signedInPath } from './session-routes.ts'
import { texts } from './texts.ts'
import { signIn } from './user.ts'

/** The warning on every page and in the log if `DEMO_ALLOW_REMOTE` is true. */
export const OPEN_DEMO = texts.signIn.openDemo

/** A made-up address of a user, since the demo keeps none. Mail to it reaches nobody (RFC 2606). */
export const demoEmailOf = async (userId: string): Promise<string> =>
  `${encodeURIComponent(userId).replace(/[()]/g, '')}@demo.example`

/**
 * The demo's sign-in, by which anyone can sign in under any name. The app refuses to start in production with it.
 * `requestedScopes`: shown on the start page after an invalid name.
 */
export function demoSignIn({ requestedScopes }: { requestedScopes: readonly string[] }): Router {
  return Router().post('/sign-in', async (req, res) => {
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
    await sendResultOrRedirect(req, res, signedInPath(req.body.returnTo), { user: { name } })
  })
}
