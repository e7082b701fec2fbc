/**
 * A sign-in of your own, to use or to start from: an email address and a password, in the app's store. To use it, set
 * `OWN_SIGN_IN` in `sign-in.ts` to `passwordSignIn`. `npm run accounts` manages the accounts.
 */
import { Router } from 'express'
import { createAttempts } from './attempts.ts'
import { rejectForm, WebError } from './errors.ts'
import { PasswordAccounts } from './password-accounts.ts'
import { sendResultOrRedirect } from './respond.ts'
import { signedInPath } from './session-routes.ts'
import { texts } from './texts.ts'
import { type OwnSignIn, signIn } from './user.ts'

const PAGE = { view: 'app/password-sign-in', title: texts.signIn.signIn, data: {} }

export const passwordSignIn: OwnSignIn = ({ store }) => {
  const accounts = new PasswordAccounts(store)
  const attempt = createAttempts()
  const routes = Router()
    .get('/sign-in', (_req, res) => res.page(PAGE.view, PAGE))
    // The form posts to its own address, whose query has `returnTo`.
    .post('/sign-in', async (req, res) => {
      const { email, password } = { email: '', password: '', ...req.body }
      const authenticate = () => accounts.authenticate(String(email), String(password))
      try {
        const account = await attempt(req.ip ?? '', String(email), authenticate)
        if (!account) throw new WebError(401, 'sign_in_failed', texts.signIn.wrongPassword)
        await signIn(req, { id: account.id, name: account.email })
        const user = { name: account.email }
        await sendResultOrRedirect(req, res, signedInPath(req.query.returnTo), { user })
      } catch (error) {
        await rejectForm(req, res, error, async () => PAGE)
      }
    })
  return {
    routes,
    deleteUser: (userId) => accounts.deleteUser(userId),
    exportUser: (userId) => accounts.exportUser(userId),
    emailOf: (userId) => accounts.emailOf(userId),
  }
}
