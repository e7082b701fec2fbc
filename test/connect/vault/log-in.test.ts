import { afterEach, describe, expect, test } from 'vitest'
import {
  ConfigurationError,
  PlatformRejectedError,
  PlatformUnavailableError,
  StoreUnavailableError,
} from '../../../src/connect/errors.ts'
import type { Tokens } from '../../../src/connect/index.ts'
import {
  consent,
  GRANTED,
  newKey,
  REF,
  refusingStore,
  type VaultSetup,
  vaultSetup,
} from '../../support/vault.ts'

let setup: VaultSetup
afterEach(() => setup?.close())

/** A log-in that counts how often it is called, and answers one after the other. */
function scripted(...answers: (Tokens | Error)[]) {
  const script = { times: 0, logIn: (vault = setup.vault) => vault.logIn(REF, requestTokens) }
  async function requestTokens(): Promise<Tokens> {
    const answer = answers[script.times++]
    if (answer instanceof Error) throw answer
    return answer ?? GRANTED
  }
  return script
}

describe('a log-in', () => {
  test('is sent by one of many callers in two processes, and the others use its tokens', async () => {
    setup = await vaultSetup()
    const script = scripted()
    const vaults = [setup.vault, setup.anotherVault()]
    await Promise.all(Array.from({ length: 10 }, (_, index) => script.logIn(vaults[index % 2])))
    expect(script.times).toBe(1)
    expect(await setup.token()).toBe('access-0')
  })

  test('replaces tokens that have ended', async () => {
    setup = await vaultSetup()
    await consent(setup.vault, { refreshToken: undefined })
    setup.later(301)
    await expect(setup.token()).rejects.toMatchObject({ code: 'connection_revoked' })
    await scripted({ ...GRANTED, accessToken: 'again' }).logIn()
    expect(await setup.token()).toBe('again')
  })

  test('replaces tokens that cannot be decrypted', async () => {
    setup = await vaultSetup()
    await consent(setup.anotherVault({ keys: [newKey('other')] }))
    await scripted({ ...GRANTED, accessToken: 'readable' }).logIn()
    expect(await setup.token()).toBe('readable')
  })

  test.each([
    ['busy', new PlatformUnavailableError('busy', 'the first answer'), 'platform_unavailable'],
    ['a wrong answer', new PlatformRejectedError('the first answer'), 'platform_unavailable'],
    ['wrong credentials', new ConfigurationError('the first answer'), 'misconfigured'],
  ])('that fails (%s) is paused, and says so to the next caller', async (_what, error, code) => {
    setup = await vaultSetup()
    const script = scripted(error)
    await expect(script.logIn()).rejects.toBe(error)
    await expect(script.logIn()).rejects.toMatchObject({ code })
    expect(script.times).toBe(1)
    setup.later(1)
    await script.logIn()
    expect(await setup.token()).toBe('access-0')
  })

  test('that fails after tokens have ended says why it failed', async () => {
    setup = await vaultSetup()
    await consent(setup.vault, { refreshToken: undefined })
    setup.later(301)
    await setup.token().catch(() => {})
    const outage = new PlatformUnavailableError('busy', 'busy', 7_000)
    const script = scripted(outage)
    await expect(script.logIn()).rejects.toBe(outage)
    setup.later(6)
    await expect(script.logIn()).rejects.toMatchObject({ code: 'platform_unavailable', retryAfterMs: 1_000 })
  })

  test('is not sent if the store cannot say whether another process sends it', async () => {
    const { store, refuses } = refusingStore()
    setup = await vaultSetup({ store })
    refuses.writes = true
    const script = scripted()
    await expect(script.logIn()).rejects.toThrow(StoreUnavailableError)
    expect(script.times).toBe(0)
  })

  test('waits for that of another process no longer than it may', async () => {
    setup = await vaultSetup({ waitMs: 20 })
    const answer = Promise.withResolvers<Tokens>()
    const first = setup.anotherVault().logIn(REF, () => answer.promise)
    const script = scripted()
    await expect(script.logIn()).rejects.toMatchObject({ code: 'platform_unavailable' })
    expect(script.times).toBe(0)
    answer.resolve(GRANTED)
    await first
  })
})
