import { Router } from 'express'
import * as z from 'zod'
import { returnToField } from '../requests/form-fields.ts'
import { rejectForm } from '../requests/rejected-form.ts'
import { sendResultOrRedirect } from '../requests/respond.ts'
import { texts } from '../texts.ts'
import { signedInPath } from './session-routes.ts'
import { isUserId, signIn } from './user.ts'

/** The warning on every page and in the log if `DEMO_ALLOW_REMOTE` is true. */
export const OPEN_DEMO = texts.signIn.openDemo

/** A made-up email address of a user, because the demo doesn't ask for it. It can't receive email (RFC 2606). */
export const demoEmailOf = async (userId: string): Promise<string> =>
  `${encodeURIComponent(userId).replace(/[()]/g, '')}@demo.example`

/** The longest name, in characters. */
const MAX_NAME = 100
const signInSchema = z.object({
  name: z
    .string(texts.signIn.nameRule)
    .transform((name) => name.normalize('NFC').trim())
    .refine((name) => name.length <= MAX_NAME && isUserId(name), texts.signIn.nameRule),
  returnTo: returnToField,
})

/**
 * The demo's sign-in: anyone can sign in under any name. The app refuses to start in production with it. `requestedScopes`: for the
 * start page, which is shown again after an invalid name.
 */
export function demoSignIn({ requestedScopes }: { requestedScopes: readonly string[] }): Router {
  return Router().post('/sign-in', async (req, res) => {
    const body = signInSchema.safeParse(req.body ?? {})
    if (!body.success)
      return rejectForm(req, res, body.error, async () => ({
        view: 'app/home',
        title: texts.home.pageTitle,
        data: { requestedScopes, returnTo: returnToField.parse(req.body?.returnTo) },
      }))
    const { name, returnTo } = body.data
    await signIn(req, { id: name, name })
    await sendResultOrRedirect(req, res, signedInPath(returnTo), { user: { name } })
  })
}
