/** Any single operation of the store fails, before or after it takes effect. Then the store works again. */
import { expect, test } from 'vitest'
import { createFaultyStore, forEachFault } from '../../support/faulty-store.ts'
import { oauthError, type Scripted, tokens } from '../../support/token-endpoint.ts'
import { connectedSetup, consent, REF, type VaultSetup } from '../../support/vault.ts'

type Step = (setup: VaultSetup) => Promise<unknown>

const EXPECTED = ['store_unavailable', 'platform_unavailable', 'connection_revoked']
const token: Step = (setup) => setup.token()

/** The connection gives tokens to every process, and no refresh token was sent twice. */
const givesTokens: Step = async (setup) => {
  expect(await setup.token()).toMatch(/^access-[1-9]/)
  expect(await setup.anotherVault().accessToken(REF)).toBe(await setup.token())
  expect(new Set(setup.sent()).size).toBe(setup.sent().length)
}

/** Nine answers, each with another refresh token. */
const rotating = () => [...'123456789'].map((number) => tokens({ refresh_token: `refresh-${number}` }))

test.each<[during: string, what: string, act: Step, isWell: Step, answers?: Scripted[]]>([
  ['a refresh', 'the next call gets a token', token, givesTokens],
  [
    'a refresh that fails',
    'the next call gets a token',
    token,
    async (setup) => {
      setup.endpoint.answers(tokens())
      expect(await setup.token()).toMatch(/^access-[1-9]/)
    },
    [{ status: 503, json: {} }],
  ],
  [
    'the end of access',
    'the next call says so',
    token,
    async (setup) => {
      await expect(setup.token()).rejects.toMatchObject({ code: 'connection_revoked' })
      expect(await setup.vault.find(REF)).toMatchObject({ view: { state: 'revoked' } })
    },
    [oauthError('invalid_grant')],
  ],
  [
    'a new consent',
    'its tokens are used, or the earlier ones are',
    ({ vault }) => consent(vault, { accessToken: 'consent', refreshToken: 'refresh-new' }),
    givesTokens,
  ],
  [
    'a disconnect',
    'another one leaves nothing',
    ({ vault }) => vault.disconnect(REF),
    async ({ vault }) => {
      await vault.disconnect(REF)
      expect(await vault.list(REF.userId)).toEqual([])
    },
  ],
])('after a fault during %s, %s', (_during, _what, act, isWell, answers = rotating()) =>
  forEachFault(async (failing, moment) => {
    const faulty = createFaultyStore()
    const setup = await connectedSetup({ store: faulty.store })
    setup.later(301)
    setup.endpoint.answers(...answers)
    faulty.failOnce(failing, moment)
    await act(setup).catch(({ code }: { code?: string }) => expect(EXPECTED).toContain(code))
    await setup.vault.idle()
    const operations = faulty.count()
    faulty.heal()
    // Every lease and pause has ended.
    setup.later(301)
    await isWell(setup)
    await setup.close()
    return operations
  }),
)
