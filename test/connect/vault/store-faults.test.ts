/** One operation of the store fails, whichever it is, before it takes effect or after; then the store is well again. */
import { expect, test } from 'vitest'
import { StoreUnavailableError } from '../../../src/connect/errors.ts'
import { createFaultyStore, forEachFault } from '../../support/faulty-store.ts'
import { oauthError, type Scripted, tokens } from '../../support/token-endpoint.ts'
import { connectedSetup, consent, GRANTED, REF, type VaultSetup } from '../../support/vault.ts'

type Step = (setup: VaultSetup) => Promise<unknown>

/** Runs `act` on an expired connection once for each fault, and then `expectWell` when every lease and pause is over. */
const afterEachFault = (act: Step, expectWell: Step, answers: Scripted[] = rotating()) =>
  forEachFault(async (failing, moment) => {
    const faulty = createFaultyStore()
    const setup = await connectedSetup({ store: faulty.store })
    setup.later(301)
    setup.endpoint.answers(...answers)
    faulty.failOnce(failing, moment)
    await act(setup).catch((error: unknown) => {
      if (!(error instanceof StoreUnavailableError)) throw error
    })
    await setup.vault.idle()
    const operations = faulty.count()
    faulty.heal()
    setup.later(301)
    await expectWell(setup)
    await setup.close()
    return operations
  })

/** Ten answers, each with another refresh token. */
const rotating = () =>
  Array.from({ length: 10 }, (_, index) => tokens({ refresh_token: `refresh-${index + 1}` }))

/** The connection gives tokens to every process, and no refresh token was sent twice. */
const expectTokens: Step = async (setup) => {
  expect(await setup.token()).toMatch(/^access-[1-9]/)
  expect(await setup.anotherVault().accessToken(REF)).toBe(await setup.token())
  expect(new Set(setup.sent()).size).toBe(setup.sent().length)
}

/** Lets a call fail with an error of this code. */
const allowing =
  (code: string, act: Step): Step =>
  (setup) =>
    act(setup).catch((error: { code?: string }) => {
      if (error.code !== code) throw error
    })

const token: Step = (setup) => setup.token()

test('after a fault during a refresh, the next call gets a token', () => afterEachFault(token, expectTokens))

test('after a fault during a refresh of a rejected token, the next call gets a token', () =>
  afterEachFault((setup) => setup.vault.tokenSource(REF).refresh('access-0'), expectTokens))

test('after a fault during a refresh that fails, the next call gets a token', () =>
  afterEachFault(
    allowing('platform_unavailable', token),
    async (setup) => {
      setup.endpoint.answers(tokens())
      expect(await setup.token()).toMatch(/^access-[1-9]/)
    },
    [{ status: 503, json: {} }],
  ))

test('after a fault while access ends, the next call says that it has ended', () =>
  afterEachFault(
    allowing('connection_revoked', token),
    async (setup) => {
      await expect(setup.token()).rejects.toMatchObject({ code: 'connection_revoked' })
      expect(await setup.vault.find(REF)).toMatchObject({ view: { state: 'revoked' } })
    },
    [oauthError('invalid_grant')],
  ))

test('after a fault during a new consent, its tokens are used or the earlier ones are', () =>
  afterEachFault(
    (setup) => consent(setup.vault, { accessToken: 'consent', refreshToken: 'refresh-new' }),
    expectTokens,
  ))

test('after a fault during a disconnect, disconnecting again leaves nothing', () =>
  afterEachFault(
    (setup) => setup.vault.disconnect(REF),
    async (setup) => {
      await setup.vault.disconnect(REF)
      expect(await setup.vault.find(REF)).toBeNull()
      expect(await setup.vault.list(REF.userId)).toEqual([])
    },
  ))

test('after a fault during a log-in, the next one gets tokens', () => {
  const other = { ...REF, bxcontext: 'other' }
  const logIn: Step = ({ vault }) =>
    vault.logIn(other, async () => ({ ...GRANTED, expiresIn: undefined, refreshToken: undefined }))
  return afterEachFault(logIn, async (setup) => {
    await logIn(setup)
    expect(await setup.vault.accessToken(other)).toBe('access-0')
  })
})

test('a call whose last use cannot be noted changes nothing', () =>
  afterEachFault(
    async (setup) => {
      const source = setup.vault.tokenSource(REF)
      await source.accessToken()
      await source.noteCall({ result: 'ok', call: 'GET leads', scope: 'leads' })
    },
    async (setup) => expect(await setup.vault.find(REF)).toMatchObject({ view: { state: 'active' } }),
  ))
