/**
 * An example of a sign-in of your own: an email address and a password, hashed with scrypt, in the app's store. Copy it to
 * `src/web`, change `../../src/web/` to `./` and `../../src/connect/` to `../connect/`, and set `OWN_SIGN_IN` in
 * `src/web/sign-in.ts` to `passwordSignIn`. Create a first account: `await createAccount(store, EMAIL, PASSWORD)`.
 */
import { randomBytes, randomUUID, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { Router } from 'express'
import { appOwner, type Key, type KeyValueStore } from '../../src/connect/stores.ts'
import { notSignedIn } from '../../src/web/errors.ts'
import { sendResultOrRedirect } from '../../src/web/respond.ts'
import { localPath } from '../../src/web/return-to.ts'
import type { OwnSignIn } from '../../src/web/sign-in.ts'
import { signIn, signOut } from '../../src/web/user.ts'

interface Account {
  id: string
  email: string
  salt: string
  hash: string
}

const hashOf = promisify(scrypt) as (password: string, salt: string, length: number) => Promise<Buffer>
const keyOf = (email: string): Key => ({
  kind: 'account',
  owner: appOwner('accounts'),
  id: email.toLowerCase(),
})
/** Compared with if there is no such account, so that the time of the answer does not tell. */
const NOBODY: Account = { id: '', email: '', salt: 'none', hash: randomBytes(32).toString('base64') }

export async function createAccount(store: KeyValueStore, email: string, password: string): Promise<void> {
  const salt = randomBytes(16).toString('base64')
  const hash = (await hashOf(password, salt, 32)).toString('base64')
  // The id never changes, unlike an email address.
  await store.set(keyOf(email), JSON.stringify({ id: randomUUID(), email, salt, hash } satisfies Account))
}

async function findAccount(store: KeyValueStore, email: string, password: string): Promise<Account | null> {
  const stored = await store.get(keyOf(email))
  const account: Account = stored === null ? NOBODY : JSON.parse(stored)
  const given = await hashOf(password, account.salt, 32)
  return timingSafeEqual(given, Buffer.from(account.hash, 'base64')) ? account : null
}

const FORM = `<!doctype html><html lang="en"><title>Sign in</title><form method="post">
<label>Email <input name="email" type="email" autocomplete="username" required></label>
<label>Password <input name="password" type="password" autocomplete="current-password" required></label>
<button>Sign in</button></form></html>`

export const passwordSignIn: OwnSignIn = ({ store }) =>
  Router()
    .get('/sign-in', (_req, res) => void res.type('html').send(FORM))
    // The form posts to its own address, whose query has `returnTo`.
    .post('/sign-in', async (req, res) => {
      const { email = '', password = '' } = req.body ?? {}
      const account = await findAccount(store, String(email), String(password))
      if (!account) throw notSignedIn('The email address or the password is wrong.')
      await signIn(req, { id: account.id, name: account.email })
      await sendResultOrRedirect(req, res, localPath(req.query.returnTo) ?? '/', {
        user: { name: account.email },
      })
    })
    .post('/sign-out', async (req, res) => {
      await signOut(req)
      await sendResultOrRedirect(req, res, '/', { user: null })
    })
