import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import {
  ConfigurationError,
  NotConnectedError,
  PlatformRejectedError,
  PlatformUnavailableError,
} from '../../../src/connect/platform/errors.ts'
import type { Tokens } from '../../../src/connect/platform/token-answer.ts'
import { StoreUnavailableError } from '../../../src/connect/store/store.ts'
import { GRANTED, newKey, REF, type VaultSetup, vaultSetup } from '../../support/vault.ts'

let setup: VaultSetup
afterEach(() => setup?.close())

/** A log-in that counts how often it is called, and answers one after the other. */
function scripted(...answers: (Tokens | Error)[]) {
  const script = { times: 0, logIn: () => setup.vault.logIn(REF, getTokens) }
  async function getTokens(): Promise<Tokens> {
    const answer = answers[Math.min(script.times++, answers.length - 1)]
    if (answer instanceof Error) throw answer
    return answer as Tokens
  }
  return script
}

describe('logging in', () => {
  test('is done by one of many callers, and the others use its tokens', async () => {
    setup = await vaultSetup()
    const script = scripted(GRANTED)
    await Promise.all(Array.from({ length: 10 }, script.logIn))
    expect(script.times).toBe(1)
    expect(await setup.token()).toBe('access-0')
  })

  test('replaces a connection that was revoked', async () => {
    setup = await vaultSetup()
    await setup.vault.connect(REF, { ...GRANTED, refreshToken: undefined })
    setup.later(301)
    await expect(setup.token()).rejects.toMatchObject({ code: 'connection_revoked' })
    await scripted({ ...GRANTED, accessToken: 'again' }).logIn()
    expect(await setup.token()).toBe('again')
  })

  test('replaces a connection that cannot be decrypted', async () => {
    setup = await vaultSetup()
    await setup.anotherVault({ keys: [newKey('other')] }).connect(REF, GRANTED)
    await scripted({ ...GRANTED, accessToken: 'readable' }).logIn()
    expect(await setup.token()).toBe('readable')
  })

  test('is paused after an outage, for as long as the platform asks', async () => {
    setup = await vaultSetup()
    const script = scripted(new PlatformUnavailableError('busy', 'busy', 7_000), GRANTED)
    await expect(script.logIn()).rejects.toMatchObject({ reason: 'busy' })
    setup.later(6)
    await expect(script.logIn()).rejects.toMatchObject({
      code: 'platform_unavailable',
      retryAfterMs: 1_000,
    })
    expect(script.times).toBe(1)
    setup.later(2)
    await script.logIn()
    expect(script.times).toBe(2)
  })

  test('is paused after wrong credentials, and says so to the next caller', async () => {
    setup = await vaultSetup()
    const script = scripted(new ConfigurationError('wrong key'))
    await expect(script.logIn()).rejects.toMatchObject({ reason: 'wrong key' })
    await expect(script.logIn()).rejects.toThrow(ConfigurationError)
    expect(script.times).toBe(1)
  })

  test('is not paused after an error that is no failure of the platform', async () => {
    setup = await vaultSetup()
    const script = scripted(new Error('of the caller'), GRANTED)
    await expect(script.logIn()).rejects.toThrow('of the caller')
    await script.logIn()
    expect(await setup.token()).toBe('access-0')
  })

  test('is not paused after an error that is the fault of the caller', async () => {
    setup = await vaultSetup()
    const script = scripted(new NotConnectedError(), GRANTED)
    await expect(script.logIn()).rejects.toThrow(NotConnectedError)
    await script.logIn()
    expect(script.times).toBe(2)
  })

  test('is not begun if the store cannot say whether another process has logged in', async () => {
    setup = await vaultSetup()
    const script = scripted(GRANTED)
    const { get } = setup.store
    setup.store.get = async (key) => {
      if (key.kind === 'platform-connection') throw new StoreUnavailableError('away')
      return get(key)
    }
    await expect(script.logIn()).rejects.toMatchObject({ reason: 'away' })
    expect(script.times).toBe(0)
  })

  test.each<[what: string, answer: Tokens | Error, outcome: object | undefined]>([
    ['that succeeds', GRANTED, undefined],
    ['that fails', new PlatformUnavailableError('busy', 'busy'), { reason: 'busy' }],
  ])('%s says so, although the lock cannot be released', async (_what, answer, outcome) => {
    setup = await vaultSetup()
    const { compareAndSet } = setup.store
    let locked = false
    setup.store.compareAndSet = async (key, ...rest) => {
      if (key.kind === 'platform-refresh-lock' && locked) throw new StoreUnavailableError('away')
      locked ||= key.kind === 'platform-refresh-lock'
      return compareAndSet(key, ...rest)
    }
    const result = await scripted(answer)
      .logIn()
      .catch((error: unknown) => error)
    if (outcome) expect(result).toMatchObject(outcome)
    else expect(result).toBeUndefined()
  })

  test('waits for another process for 20 s', async () => {
    setup = await vaultSetup()
    let finish = (_tokens: Tokens) => {}
    const first = setup.anotherVault().logIn(REF, () => new Promise((resolve) => (finish = resolve)))
    let aheadMs = 0
    const now = performance.now.bind(performance)
    vi.spyOn(performance, 'now').mockImplementation(() => now() + aheadMs)
    const script = scripted(GRANTED)
    const second = script.logIn().catch((error: unknown) => error)
    await pause(100)
    aheadMs = 20_000
    expect(await second).toMatchObject({ reason: 'another process is still logging in' })
    expect(script.times).toBe(0)
    finish(GRANTED)
    await first
  })
})

test('a log-in whose answer is wrong is paused like an outage', async () => {
  setup = await vaultSetup()
  const script = scripted(new PlatformRejectedError('no token in the answer'))
  await expect(script.logIn()).rejects.toMatchObject({ code: 'platform_rejected' })
  await expect(script.logIn()).rejects.toMatchObject({ code: 'platform_unavailable' })
  expect(script.times).toBe(1)
})
