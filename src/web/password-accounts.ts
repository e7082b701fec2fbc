import { randomBytes, randomUUID, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { appOwner, type Key, type KeyValueStore, update } from '../connect/stores.ts'
import type { SignInParts } from './user.ts'

/** An account of `passwordSignIn`. Its id never changes and is never given again, unlike an email address. */
export interface Account {
  id: string
  email: string
}

/** A password as it is stored: hashed with scrypt. */
interface Hashed {
  salt: string
  hash: string
}

const ACCOUNTS = { kind: 'account', owner: appOwner('accounts') }
const keyOf = (email: string): Key => ({ ...ACCOUNTS, id: email.toLowerCase() })
const parse = (value: string): Account & Hashed => JSON.parse(value)

const scryptOf = promisify<string, string, number, Buffer>(scrypt)
async function hashed(password: string): Promise<Hashed> {
  const salt = randomBytes(16).toString('base64')
  return { salt, hash: (await scryptOf(password, salt, 32)).toString('base64') }
}
/** Stands in for an account that does not exist, so that the time of the answer does not reveal that. */
const NOBODY: Hashed = { salt: 'none', hash: randomBytes(32).toString('base64') }

/** The accounts of `passwordSignIn`. An address is the same in upper and lower case. Methods throw `StoreUnavailableError`. */
export class PasswordAccounts implements Omit<SignInParts, 'routes'> {
  readonly #store: KeyValueStore
  constructor(store: KeyValueStore) {
    this.#store = store
  }

  /** Resolves to false if the address has an account. */
  async create(email: string, password: string): Promise<boolean> {
    const account = { id: randomUUID(), email, ...(await hashed(password)) }
    return this.#store.compareAndSet(keyOf(email), null, JSON.stringify(account))
  }

  /** Gives the account of an address, if there is one, another password. */
  async setPassword(email: string, password: string): Promise<void> {
    const given = await hashed(password)
    const change = (value: string | null) => value && JSON.stringify({ ...parse(value), ...given })
    await update(this.#store, keyOf(email), change)
  }

  async find(email: string): Promise<Account | null> {
    const value = await this.#store.get(keyOf(email))
    return value === null ? null : parse(value)
  }

  /** The account of an address and a password, or null. */
  async authenticate(email: string, password: string): Promise<Account | null> {
    const value = await this.#store.get(keyOf(email))
    const account = value === null ? null : parse(value)
    const { salt, hash } = account ?? NOBODY
    const isSame = timingSafeEqual(await scryptOf(password, salt, 32), Buffer.from(hash, 'base64'))
    return isSame ? account : null
  }

  /** All accounts, by address. */
  async list(): Promise<Account[]> {
    const entries = await this.#store.list(ACCOUNTS.kind, ACCOUNTS.owner)
    const accounts = entries.map(({ value }) => parse(value))
    return accounts.sort((a, b) => a.email.localeCompare(b.email)).map(({ id, email }) => ({ id, email }))
  }

  async deleteUser(userId: string): Promise<void> {
    const email = await this.emailOf(userId)
    if (email !== null) await this.#store.delete(keyOf(email))
  }

  /** Reads all accounts, since they are stored by their address. */
  async exportUser(userId: string): Promise<Account | null> {
    return (await this.list()).find(({ id }) => id === userId) ?? null
  }

  async emailOf(userId: string): Promise<string | null> {
    return (await this.exportUser(userId))?.email ?? null
  }
}
