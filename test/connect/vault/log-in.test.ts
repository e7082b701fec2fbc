import { afterEach, describe, expect, test } from 'vitest'
import { ConfigurationError, PlatformUnavailableError } from '../../../src/connect/errors.ts'
import type { Tokens } from '../../../src/connect/index.ts'
import { consent, GRANTED, newKey, REF, type VaultSetup, vaultSetup } from '../../support/vault.ts'

let setup: VaultSetup
afterEach(() => setup?.close())

/** A log-in that counts how often it is called, and fails the first time if there is an error. */
function scripted(error?: Error) {
  const script = { times: 0, logIn: (vault = setup.vault) => vault.logIn(REF, requestTokens) }
  async function requestTokens(): Promise<Tokens> {
    if (script.times++ === 0 && error) throw error
    return { ...GRANTED, accessToken: 'logged in' }
  }
  return script
}

/** A record whose tokens have ended. */
async function endedTokens() {
  await consent(setup.vault, { refreshToken: undefined })
  setup.later(301)
  await expect(setup.token()).rejects.toMatchObject({ code: 'connection_revoked' })
}

describe('a log-in', () => {
  test('is sent by one of many callers in two processes, and the others use its tokens', async () => {
    setup = await vaultSetup()
    const script = scripted()
    const vaults = [setup.vault, setup.anotherVault()]
    await Promise.all(Array.from({ length: 10 }, (_, index) => script.logIn(vaults[index % 2])))
    expect(script.times).toBe(1)
    expect(await setup.token()).toBe('logged in')
  })

  test.each([
    ['have ended', endedTokens],
    ['cannot be decrypted', () => consent(setup.anotherVault({ keys: [newKey('other')] }))],
  ])('replaces tokens that %s', async (_what, prepare) => {
    setup = await vaultSetup()
    await prepare()
    await scripted().logIn()
    expect(await setup.token()).toBe('logged in')
  })

  test.each([
    ['busy', new PlatformUnavailableError('busy', 'busy', 7_000), 'platform_unavailable'],
    ['wrong credentials', new ConfigurationError('wrong key'), 'misconfigured'],
  ])('that fails (%s) says why and is paused, also after tokens have ended', async (_what, error, code) => {
    for (const prepare of [async () => {}, endedTokens]) {
      setup = await vaultSetup()
      await prepare()
      const script = scripted(error)
      await expect(script.logIn()).rejects.toBe(error)
      await expect(script.logIn()).rejects.toMatchObject({ code })
      expect(script.times).toBe(1)
      setup.later(7)
      await script.logIn()
      expect(await setup.token()).toBe('logged in')
      await setup.close()
    }
  })

  test('waits for that of another process no longer than it may', async () => {
    setup = await vaultSetup({ waitMs: 20 })
    const answer = Promise.withResolvers<Tokens>()
    const first = setup.anotherVault().logIn(REF, () => answer.promise)
    await expect(scripted().logIn()).rejects.toMatchObject({ kind: 'paused' })
    answer.resolve(GRANTED)
    await first
    expect(await setup.token()).toBe('access-0')
  })
})
