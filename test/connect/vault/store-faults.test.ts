/** One operation of the store fails, whichever it is, before it takes effect or after; then the store is well again. */
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { StoreUnavailableError } from '../../../src/connect/errors.ts'
import { createFaultyStore, forEachFault, type Moment } from '../../support/faulty-store.ts'
import { oauthError, tokens } from '../../support/token-endpoint.ts'
import { GRANTED, REF, type VaultSetup, vaultSetup } from '../../support/vault.ts'

type Run = (setup: VaultSetup) => Promise<unknown>

const LEASE_MS = 60

/** Runs `act` on an expired connection while one operation fails, and then `expectWell`, when all locks have expired. */
async function withFault(act: Run, expectWell: Run, failing: number, moment: Moment): Promise<number> {
  let time = Date.now()
  const now = () => time
  const faulty = createFaultyStore(now)
  const options = { store: faulty.store, now, leaseMs: LEASE_MS, waitMs: 20_000, interruptedMs: 20 }
  const setup = await vaultSetup(options)
  await setup.vault.connect(REF, GRANTED)
  time += 301_000
  let number = 0
  const rotating = () => tokens({ refresh_token: `refresh-${++number}` })
  setup.endpoint.answers(...Array.from({ length: 10 }, rotating))
  faulty.failOnce(failing, moment)
  await act(setup).catch((error: unknown) => {
    if (!(error instanceof StoreUnavailableError)) throw error
  })
  await setup.vault.idle()
  const operations = faulty.count()
  faulty.heal()
  time += 301_000
  // Time for a renewal that nobody stopped to take the lock again.
  await pause(LEASE_MS)
  await expectWell(setup)
  await setup.close()
  return operations
}

const afterEachFault = (act: Run, expectWell: Run) =>
  forEachFault((failing, moment) => withFault(act, expectWell, failing, moment))

/** The connection gives tokens, and no refresh token is sent twice, which some platforms answer by ending the grant. */
async function expectTokens(setup: VaultSetup): Promise<void> {
  expect(await setup.token()).toMatch(/^access-[1-9]/)
  expect(await setup.anotherVault().accessToken(REF)).toBe(await setup.token())
  expect(new Set(setup.sent()).size).toBe(setup.sent().length)
}

test('after a fault during a refresh, the next call gets a token', () =>
  afterEachFault((setup) => setup.token(), expectTokens))

test('after a fault during a refresh of a rejected token, the next call gets a token', () =>
  afterEachFault((setup) => setup.vault.tokenSource(REF).refresh('access-0'), expectTokens))

test('after a fault during a refresh that fails, the next call gets a token', () =>
  afterEachFault(
    (setup) => {
      setup.endpoint.answers({ status: 503, json: {} })
      return setup.token().catch((error: { code?: string }) => {
        if (error.code !== 'platform_unavailable') throw error
      })
    },
    async (setup) => {
      setup.endpoint.answers(tokens())
      expect(await setup.token()).toMatch(/^access-[1-9]/)
    },
  ))

test('after a fault while a grant ends, the next call says that it has ended', () =>
  afterEachFault(
    (setup) => {
      setup.endpoint.answers(oauthError('invalid_grant'))
      return setup.token().catch((error: { code?: string }) => {
        if (error.code !== 'connection_revoked') throw error
      })
    },
    async (setup) => {
      await expect(setup.token()).rejects.toMatchObject({ code: 'connection_revoked' })
      expect(await setup.vault.find(REF)).toMatchObject({ status: 'revoked' })
    },
  ))

test('after a fault during a new consent, the new tokens are used or the old ones are', () =>
  afterEachFault(
    (setup) => setup.vault.connect(REF, { ...GRANTED, accessToken: 'consent', refreshToken: 'refresh-new' }),
    expectTokens,
  ))

test('after a fault during a disconnect, disconnecting again leaves nothing', () =>
  afterEachFault(
    (setup) => setup.vault.disconnect(REF),
    async (setup) => {
      await setup.vault.disconnect(REF)
      expect(await setup.vault.find(REF)).toBeNull()
      expect(await setup.vault.list(REF.userId)).toEqual([])
      expect(await setup.vault.usersOf(REF.bxcontext)).toEqual([])
    },
  ))

test('after a fault during a log-in, the next one gets tokens', () => {
  const other = { ...REF, bxcontext: 'other' }
  const granted = { ...GRANTED, refreshToken: undefined, expiresIn: undefined }
  const logIn: Run = ({ vault }) => vault.logIn(other, async () => granted)
  return afterEachFault(logIn, async (setup) => {
    await logIn(setup)
    expect(await setup.vault.accessToken(other)).toBe('access-0')
  })
})
