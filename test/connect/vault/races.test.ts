import { afterEach, describe, expect, test, vi } from 'vitest'
import { createConnectionRepository } from '../../../src/connect/vault/connection-repository.ts'
import { createRecordCipher } from '../../../src/connect/vault/encryption.ts'
import { createHealthRecords } from '../../../src/connect/vault/health.ts'
import type { VaultOptions } from '../../../src/connect/vault/vault.ts'
import { oauthError, type Scripted, tokens } from '../../support/token-endpoint.ts'
import { connectedSetup, GRANTED, newKey, REF, type VaultSetup, vaultSetup } from '../../support/vault.ts'

let setup: VaultSetup
afterEach(() => setup?.close())

const NEWER = { ...GRANTED, accessToken: 'newer', refreshToken: 'refresh-newer' }

/** Runs `meanwhile` while a refresh is in flight, which is then answered with `answer`. */
async function refreshWhile(
  answer: Scripted,
  meanwhile: () => Promise<unknown>,
  options: Partial<VaultOptions> = {},
): Promise<PromiseSettledResult<string>> {
  setup = await vaultSetup(options)
  await setup.vault.connect(REF, GRANTED)
  setup.later(301)
  let arrived = () => {}
  const asked = new Promise<void>((resolve) => {
    arrived = resolve
  })
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  setup.endpoint.answers(async (res) => {
    arrived()
    await released
    const { status = 200, json } = answer as { status?: number; json: unknown }
    res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json))
  })
  const refreshing = Promise.allSettled([setup.vault.accessToken(REF)])
  await asked
  await meanwhile()
  release()
  const [result] = await refreshing
  return result as PromiseSettledResult<string>
}

describe('while a refresh of the old grant is in flight', () => {
  test('a new consent stays, and the refresh resolves to its token', async () => {
    const result = await refreshWhile(tokens(), () => setup.anotherVault().connect(REF, NEWER))
    expect(result).toMatchObject({ value: 'newer' })
    expect(await setup.vault.accessToken(REF)).toBe('newer')
  })

  test('a new consent stays although the old grant is answered with invalid_grant', async () => {
    const result = await refreshWhile(oauthError('invalid_grant'), () =>
      setup.anotherVault().connect(REF, NEWER),
    )
    expect(result).toMatchObject({ value: 'newer' })
    expect(await setup.vault.find(REF)).toMatchObject({ status: 'active' })
  })

  test('a new consent is used although the refresh fails, and is not paused by that', async () => {
    const result = await refreshWhile({ status: 500, json: {} }, () =>
      setup.anotherVault().connect(REF, NEWER),
    )
    expect(result).toMatchObject({ value: 'newer' })
    setup.later(301)
    setup.endpoint.answers(tokens({ access_token: 'next' }))
    expect(await setup.vault.accessToken(REF)).toBe('next')
  })

  test('a disconnect leaves the record gone', async () => {
    const result = await refreshWhile(tokens(), () => setup.anotherVault().disconnect(REF))
    expect(result).toMatchObject({ reason: { code: 'not_connected' } })
    expect(await setup.vault.find(REF)).toBeNull()
    const health = createHealthRecords(setup.store, 'platform', Date.now)
    expect(await health.read(REF)).toMatchObject({ problem: null, refreshFailures: 0 })
  })

  test('a disconnect leaves the record gone although the grant is answered with invalid_grant', async () => {
    await refreshWhile(oauthError('invalid_grant'), () => setup.anotherVault().disconnect(REF))
    expect(await setup.vault.find(REF)).toBeNull()
  })

  test('a re-encryption by another process keeps both the new token and the new encryption', async () => {
    const keys = [newKey('old'), newKey('new')] as const
    const reencrypting = () => setup.anotherVault({ keys: [keys[1], keys[0]] }).reencrypt()
    const result = await refreshWhile(tokens({ access_token: 'next' }), reencrypting, { keys })
    expect(result).toMatchObject({ value: 'next' })
    expect(await setup.vault.accessToken(REF)).toBe('next')
  })
})

describe('of two consents', () => {
  test('the later one stays, although the earlier one is stored after it', async () => {
    setup = await vaultSetup()
    const sentAt = Date.now() - 10_000
    await setup.vault.connect(REF, NEWER, sentAt + 5_000)
    await setup.anotherVault().connect(REF, GRANTED, sentAt)
    expect(await setup.anotherVault().accessToken(REF)).toBe('newer')
  })

  test('the one that is stored last stays if the other has a time in the future: its clock was ahead', async () => {
    setup = await vaultSetup()
    await setup.vault.connect(REF, GRANTED, Date.now() + 600_000)
    await setup.anotherVault().connect(REF, NEWER, Date.now())
    expect(await setup.anotherVault().accessToken(REF)).toBe('newer')
  })
})

test('a refresh result is stored over one whose time lies in the future: its clock was ahead', async () => {
  const result = await refreshWhile(tokens({ access_token: 'mine' }), async () => {
    await setup.store.delete({ kind: 'platform-refresh-lock', owner: 'ann', id: 'ctx' })
    await setup.store.delete({ kind: 'platform-refresh-unfinished', owner: 'ann', id: 'ctx' })
    const ahead = setup.anotherVault({ now: () => Date.now() + 7_200_000 })
    const answers = setup.endpoint.answers
    answers(tokens({ access_token: 'theirs', expires_in: 1 }))
    await ahead.accessToken(REF)
  })
  expect(result).toMatchObject({ value: 'mine' })
  expect(await setup.anotherVault().accessToken(REF)).toBe('mine')
})

test('tokens of another process are used, although it refreshed as often as the ones that were read', async () => {
  const keys = [newKey()] as const
  setup = await connectedSetup({ keys })
  const token = await setup.token()
  const { store } = setup
  const connections = createConnectionRepository(store, createRecordCipher(keys), 'platform')
  const compareAndSet = store.compareAndSet.bind(store)
  const spy = vi.spyOn(store, 'compareAndSet').mockImplementation(async (...args) => {
    if (args[0].kind === 'platform-refresh-lock') {
      spy.mockRestore()
      const stored = await connections.read(REF)
      if (stored?.connection.status === 'active')
        await connections.write({ ...stored.connection, accessToken: 'theirs' })
    }
    return compareAndSet(...args)
  })
  expect(await setup.vault.tokenSource(REF).refresh(token)).toBe('theirs')
  expect(setup.sent()).toEqual([])
})

test('a new consent forgets a refresh of the old grant that was interrupted: the next refresh does not wait for it', async () => {
  setup = await vaultSetup({ interruptedMs: 60_000 })
  await setup.vault.connect(REF, GRANTED)
  await setup.store.set({ kind: 'platform-refresh-unfinished', owner: 'ann', id: 'ctx' }, '1', 600_000)
  await setup.vault.connect(REF, NEWER)
  setup.later(301)
  setup.endpoint.answers(tokens({ access_token: 'next' }))
  expect(await setup.vault.accessToken(REF)).toBe('next')
})

describe('a lock that expires during a slow refresh', () => {
  test('allows two refreshes at most, and the result of the one sent later stays', async () => {
    const holderStops = async () => {
      // The holder loses its lock, as after a long pause of its process, and another process refreshes.
      await setup.store.delete({ kind: 'platform-refresh-lock', owner: 'ann', id: 'ctx' })
      setup.later(1)
      setup.endpoint.answers(tokens({ access_token: 'fast' }))
      expect(await setup.anotherVault().accessToken(REF)).toBe('fast')
      setup.later(1)
    }
    const result = await refreshWhile(tokens({ access_token: 'slow' }), holderStops, { interruptedMs: 200 })
    expect(result.status).toBe('fulfilled')
    expect(setup.endpoint.requests).toHaveLength(2)
    expect(await setup.vault.accessToken(REF)).toBe('fast')
  })

  test.each([503, 400])(
    'and whose refresh is answered with %d after that leaves the tokens of the other one',
    async (status) => {
      const holderStops = async () => {
        await setup.store.delete({ kind: 'platform-refresh-lock', owner: 'ann', id: 'ctx' })
        setup.endpoint.answers(tokens({ access_token: 'fast' }))
        expect(await setup.anotherVault().accessToken(REF)).toBe('fast')
      }
      const options = { interruptedMs: 200, leaseMs: 60_000 }
      const result = await refreshWhile({ status, json: {} }, holderStops, options)
      expect(result).toMatchObject({ value: 'fast' })
      const health = createHealthRecords(setup.store, 'platform', Date.now)
      expect(await health.read(REF)).toMatchObject({ problem: null, refreshFailures: 0, refused: null })
      expect(await setup.store.get({ kind: 'platform-refresh-lock', owner: 'ann', id: 'ctx' })).toBeNull()
    },
  )

  test('and whose holder still waits for the answer is not used: the refresh token is sent once', async () => {
    const unfinished = { kind: 'platform-refresh-unfinished', owner: 'ann', id: 'ctx' }
    let other: Promise<string> | undefined
    const storeFails = async () => {
      await setup.store.delete({ kind: 'platform-refresh-lock', owner: 'ann', id: 'ctx' })
      other = setup.anotherVault({ interruptedMs: 500 }).accessToken(REF)
      // The holder reports for longer than the other one waits for a silent one.
      const reports = new Set<string | null>()
      await expect.poll(async () => reports.add(await setup.store.get(unfinished)).size).toBeGreaterThan(30)
    }
    const result = await refreshWhile(tokens({ access_token: 'slow' }), storeFails, { leaseMs: 60 })
    expect(result).toMatchObject({ value: 'slow' })
    expect(await other).toBe('slow')
    expect(setup.endpoint.requests).toHaveLength(1)
  })

  test('and whose holder fails pauses the process that waits for it: the platform gets no second request', async () => {
    let other: Promise<string> | undefined
    const lockExpires = async () => {
      const lock = { kind: 'platform-refresh-lock', owner: 'ann', id: 'ctx' }
      await setup.store.delete(lock)
      other = setup.anotherVault({ interruptedMs: 60_000 }).accessToken(REF)
      other.catch(() => {})
      await expect.poll(() => setup.store.get(lock)).toMatch(/^held:/)
    }
    const result = await refreshWhile({ status: 503, json: {} }, lockExpires, { leaseMs: 60_000 })
    expect(result).toMatchObject({ reason: { code: 'platform_unavailable' } })
    await expect(other).rejects.toMatchObject({ code: 'platform_unavailable' })
    expect(setup.endpoint.requests).toHaveLength(1)
  })
})

test('a process that finds newer tokens leaves the note of a request that another one has not finished', async () => {
  setup = await connectedSetup({ interruptedMs: 60_000 })
  const token = await setup.token()
  const { store } = setup
  const unfinished = { kind: 'platform-refresh-unfinished', owner: 'ann', id: 'ctx' }
  const compareAndSet = store.compareAndSet.bind(store)
  const spy = vi.spyOn(store, 'compareAndSet').mockImplementation(async (...args) => {
    // Before it gets the lock, another process refreshes, and a third one sends the next request.
    spy.mockRestore()
    setup.endpoint.answers(tokens({ access_token: 'theirs' }))
    await setup.anotherVault().tokenSource(REF).refresh(token)
    await store.set(unfinished, 'held:third 1', 600_000)
    return compareAndSet(...args)
  })
  expect(await setup.vault.tokenSource(REF).refresh(token)).toBe('theirs')
  expect(await store.get(unfinished)).toBe('held:third 1')
})
