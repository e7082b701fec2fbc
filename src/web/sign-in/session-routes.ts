import { Router } from 'express'
import * as z from 'zod'
import { signInFailed } from '../requests/errors.ts'
import { returnToField, switchField } from '../requests/form-fields.ts'
import { sendOnward, sendResultOrRedirect, wantsJson } from '../requests/respond.ts'
import { localPath } from '../requests/return-to.ts'
import { texts } from '../texts.ts'
import { currentUser, type SignInParts, signOut } from './user.ts'

const SIGNED_IN = '/signed-in'

const signedInSchema = z.object({ returnTo: returnToField })
const signOutSchema = z.object({ everywhere: switchField })

/** The path after a sign-in form: `/signed-in`, which redirects to `returnTo`, or to `/` if it is not a path of this app. */
export const signedInPath = (returnTo: unknown): string =>
  `${SIGNED_IN}?${new URLSearchParams({ returnTo: localPath(returnTo) ?? '/' })}`

/** The routes of every sign-in. `logoutUrl` is called before the session ends, but the end of the session does not wait for it. */
export const sessionRoutes = (logoutUrl: NonNullable<SignInParts['logoutUrl']>): Router =>
  Router()
    .get(SIGNED_IN, (req, res) => {
      // Without this page, a user whose browser rejects the cookie would see the sign-in again, without an explanation.
      if (!currentUser(req)) throw signInFailed(texts.signIn.cookiesBlocked)
      res.redirect(303, signedInSchema.parse(req.query).returnTo ?? '/')
    })
    .post('/sign-out', async (req, res) => {
      const user = currentUser(req)
      const { everywhere } = signOutSchema.parse(req.body ?? {})
      // `logoutUrl` needs the session, so call it first. But sign the user out even if the service doesn't answer.
      const asked = logoutUrl(req).catch(() => null)
      await signOut(req, { everywhere })
      const elsewhere = await asked
      if (user && elsewhere && !wantsJson(req)) return sendOnward(req, res, elsewhere, texts.signedOut)
      await sendResultOrRedirect(req, res, '/', { user: null, logoutUrl: elsewhere })
    })
