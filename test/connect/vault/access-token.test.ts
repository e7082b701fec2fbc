import { afterEach, describe, expect, test, vi } from 'vitest'
import { platform, refreshLockChannel, type Tokens } from '../../../src/connect/index.ts'
import { StoreUnavailableError } from '../../../src/connect/store/store.ts'
import { createHealthRecords } from '../../../src/connect/vault/health.ts'
import { createRefreshLock, type LockHandle } from '../../../src/connect/vault/refresh-lock.ts'
import { oauthError, tokens, tokensAfter } from '../../support/token-endpoint.ts'
import {
  connectedSetup,
  expiredSetup,
  GRANTED,
  REF,
  type VaultSetup,
  vaultSetup,
} from '../../support/vault.ts'

let setup: VaultSetup
afterEach(() => setup?.close())

describe('an access token', () => {
  test.each([
    ['of five minutes is refreshed in the background in its last minute', 300, 60],
    ['of 100 seconds is refreshed in the background in the last fifth of its lifetime', 100, 20],
  ])('%s, and is used until then', async (_what, expiresIn, leftSeconds) => {
    setup = await connectedSetup({}, { expiresIn })
    setup.later(expiresIn - leftSeconds - 1)
    expect(await setup.token()).toBe('access-0')
    await setup.vault.idle()
    expect(setup.sent()).toEqual([])
    setup.later(1)
    expect(await setup.token()).toBe('access-0')
    await setup.vault.idle()
    expect(setup.sent()).toEqual(['refresh-0'])
  })

  const UNLIMITED = { ...GRANTED, refreshToken: undefined, expiresIn: undefined }
  test.each<[what: string, granted: Tokens]>([
    ['that is still valid', GRANTED],
    ['of which nobody knows how long it lives', UNLIMITED],
    ['that lives for 0 s and has no refresh token', { ...UNLIMITED, expiresIn: 0 }],
  ])('%s is not refreshed, even if only the store itself has it', async (_what, granted) => {
    setup = await vaultSetup()
    await setup.vault.connect(REF, granted)
    setup.store.getCached = async () => null
    expect(await setup.token()).toBe('access-0')
    await setup.vault.idle()
    expect(setup.sent()).toEqual([])
  })
})

describe('a refresh', () => {
  test('that fails by an error of our own is not followed by a pause', async () => {
    setup = await expiredSetup()
    const refresh = vi.spyOn(setup.oauth, 'refresh').mockRejectedValueOnce(new RangeError('of our own'))
    await expect(setup.token()).rejects.toThrow('of our own')
    refresh.mockRestore()
    expect(await setup.token()).toMatch(/^access-\d+$/)
  })

  test('that cannot read the record leaves the lock to the next one', async () => {
    setup = await expiredSetup()
    const { get } = setup.store
    let reads = 0
    setup.store.get = async (key) => {
      // The second one: the first is of the caller, before it acquires the lock.
      if (key.kind === 'platform-connection' && ++reads === 2) throw new StoreUnavailableError('away')
      return get(key)
    }
    await expect(setup.token()).rejects.toMatchObject({ reason: 'away' })
    expect(await setup.token()).toMatch(/^access-\d+$/)
    expect(setup.sent()).toEqual(['refresh-0'])
  })

  test.each([
    ['wrong credentials', oauthError('invalid_client', 401), 'error', 'misconfigured'],
    ['an outage', { status: 503, json: {} }, 'warn', 'error'],
    ['an answer without a token', { json: {} }, 'warn', 'unreadable'],
  ])(
    'that fails by %s is logged at its level, and shown as its problem',
    async (_what, answer, level, problem) => {
      setup = await expiredSetup()
      setup.endpoint.answers(answer)
      await expect(setup.token()).rejects.toThrow()
      const logged = setup.logLines.find((line) => line.includes('token refresh failed')) ?? ''
      expect(JSON.parse(logged).level).toBe(level)
      expect(await setup.vault.find(REF)).toMatchObject({ problem })
    },
  )

  test('is waited for by another process, which says so once', async () => {
    setup = await expiredSetup()
    const outcomes: string[] = []
    const collect = (event: unknown) => outcomes.push((event as { outcome: string }).outcome)
    refreshLockChannel.subscribe(collect)
    let other: Promise<string> | undefined
    setup.endpoint.answers(
      tokensAfter(
        async () => {
          other = setup.anotherVault().accessToken(REF)
          // Several times as long as the other one waits before it looks again.
          await vi.waitFor(() => expect(outcomes).toContain('busy'))
          await new Promise((resolve) => setTimeout(resolve, 400))
        },
        { refresh_token: 'refresh-1' },
      ),
      tokens(),
    )
    const token = await setup.token()
    expect(await other).toBe(token)
    refreshLockChannel.unsubscribe(collect)
    expect(outcomes.filter((outcome) => outcome === 'busy')).toHaveLength(1)
  })
})

test('an unfinished request is remembered for 11 minutes: longer than unsaved tokens are kept', async () => {
  setup = await vaultSetup()
  const { store } = setup
  let time = Date.now()
  const lockOf = () => {
    const now = () => time
    return createRefreshLock(store, createHealthRecords(store, 'platform', now), { platform, now })
  }
  const acquire = async () => (await lockOf().acquire(REF)) as LockHandle
  const handle = await acquire()
  await handle.confirm()
  for (const [seconds, interrupted] of [
    [659, true],
    [2, false],
  ] as const) {
    setup.later(seconds)
    time += seconds * 1_000
    const next = await acquire()
    expect(next.interrupted).toBe(interrupted)
    await next.release()
  }
  await handle.release()
})
