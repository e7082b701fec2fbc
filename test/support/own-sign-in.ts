import { Router } from 'express'
import { badInput } from '../../src/web/requests/errors.ts'
import { sendResultOrRedirect } from '../../src/web/requests/respond.ts'
import { signedInPath } from '../../src/web/sign-in/session-routes.ts'
import { type OwnSignIn, signIn } from '../../src/web/sign-in/user.ts'

/**
 * A product's own sign-in. It accepts any email address that a visitor enters. It stores the address by the user's id, as a product
 * does with the accounts of its users.
 */
export const ownSignIn: OwnSignIn = ({ store }) => {
  const keyOf = (owner: string) => ({ kind: 'own-account', owner, id: '' })
  const emailOf = (userId: string) => store.get(keyOf(userId))
  return {
    routes: Router()
      .get('/sign-in', (_req, res) => void res.type('html').send('<form method="post">'))
      .post('/sign-in', async (req, res) => {
        const { email } = req.body
        if (!email) throw badInput('email', 'must not be empty')
        const id = `account of ${email}`
        await store.set(keyOf(id), email)
        await signIn(req, { id, name: email })
        await sendResultOrRedirect(req, res, signedInPath(req.query.returnTo), { user: { name: email } })
      }),
    deleteUser: async (userId) => void (await store.delete(keyOf(userId))),
    async exportUser(userId) {
      const email = await emailOf(userId)
      return email === null ? null : { email }
    },
    emailOf,
  }
}
