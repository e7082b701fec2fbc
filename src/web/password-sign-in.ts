/**
 * A sign-in of your own, to use or to start from: an email address and a password, hashed with scrypt, in the app's store. To
 * use it, set `OWN_SIGN_IN` in `sign-in.ts` to `passwordSignIn`. `npm run create-account` creates accounts.
 */
import { randomBytes, randomUUID, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { Router } from 'express'
import { appOwner, type Key, type KeyValueStore } from '../connect/stores.ts'
import { rejectForm, WebError } from './errors.ts'
import { sendResultOrRedirect } from './respond.ts'
import { localPath } from './return-to.ts'
import { texts } from './texts.ts'
import { type OwnSignIn, signIn, signOut } from './user.ts'

interface Account {
  id: string
  email: string
  salt: string
  hash: string
}

const hashOf = promisify<string, string, number, Buffer>(scrypt)
const keyOf = (email: string): Key => ({
  kind: 'account',
  owner: appOwner('accounts'),
  id: email.toLowerCase(),
})
/** Compared with if there is no such account, so that the time of the answer does not tell. */
const NOBODY: Account = { id: '', email: '', salt: 'none', hash: randomBytes(32).toString('base64') }
const PAGE = { view: 'app/password-sign-in', title: texts.signIn.signIn, data: {} }

/** Creates an account. Resolves to false if the address has one. Throws `StoreUnavailableError`. */
export async function createAccount(store: KeyValueStore, email: string, password: string): Promise<boolean> {
  const salt = randomBytes(16).toString('base64')
  const hash = (await hashOf(password, salt, 32)).toString('base64')
  // The id never changes, unlike an email address.
  const account: Account = { id: randomUUID(), email, salt, hash }
  return store.compareAndSet(keyOf(email), null, JSON.stringify(account))
}

async function findAccount(store: KeyValueStore, email: string, password: string): Promise<Account | null> {
  const stored = await store.get(keyOf(email))
  const account: Account = stored === null ? NOBODY : JSON.parse(stored)
  const given = await hashOf(password, account.salt, 32)
  return timingSafeEqual(given, Buffer.from(account.hash, 'base64')) ? account : null
}

export const passwordSignIn: OwnSignIn = ({ store }) =>
  Router()
    .get('/sign-in', (_req, res) => res.page(PAGE.view, PAGE))
    // The form posts to its own address, whose query has `returnTo`.
    .post('/sign-in', async (req, res) => {
      const { email = '', password = '' } = req.body ?? {}
      const account = await findAccount(store, String(email), String(password))
      if (!account) {
        const error = new WebError(401, 'sign_in_failed', texts.signIn.wrongPassword)
        return rejectForm(req, res, error, async () => PAGE)
      }
      await signIn(req, { id: account.id, name: account.email })
      await sendResultOrRedirect(req, res, localPath(req.query.returnTo) ?? '/', {
        user: { name: account.email },
      })
    })
    .post('/sign-out', async (req, res) => {
      await signOut(req)
      await sendResultOrRedirect(req, res, '/', { user: null })
    })
