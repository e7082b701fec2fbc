import { createClient } from 'redis'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { openRedis } from '../../../src/connect/store/redis.ts'
import type { KeyValueStore } from '../../../src/connect/store/store.ts'
import { connectionKey } from '../../../src/connect/vault/connection-repository.ts'
import { REDIS, withRedis } from '../../support/programs.ts'
import { type RedisServer, ready, startRedis } from '../../support/redis.ts'
import { tokens, tokensAfter } from '../../support/token-endpoint.ts'
import { expiredSetup, GRANTED, REF, type VaultSetup, vaultSetup } from '../../support/vault.ts'

let setup: VaultSetup
afterEach(() => setup?.close())

describe.skipIf(!REDIS)(`a Redis that refuses writes${withRedis}`, () => {
  let server: RedisServer
  let closeAdmin: () => void
  afterEach(async () => {
    closeAdmin()
    await server.close()
  })

  /** A Redis that `refuse` makes run out of memory, or turns into a replica. */
  async function redis(
    kind: 'full' | 'read-only',
  ): Promise<{ store: KeyValueStore; refuse(refusing: boolean): Promise<unknown> }> {
    server = await startRedis()
    const admin = await createClient({ url: server.url }).connect()
    closeAdmin = () => admin.destroy()
    const commands = {
      full: (on: boolean) => admin.configSet('maxmemory', on ? '1' : '0'),
      'read-only': (on: boolean) =>
        admin.sendCommand(['REPLICAOF', ...(on ? ['127.0.0.1', '1'] : ['NO', 'ONE'])]),
    }
    return { store: await ready(openRedis({ urls: [server.url] })), refuse: commands[kind] }
  }

  test.each(['full', 'read-only'] as const)(
    '(%s) loses no refreshed tokens: this process uses them, and stores them as soon as it can',
    async (kind) => {
      const { store, refuse } = await redis(kind)
      // Redis has its own clock, which `later` does not move.
      setup = await expiredSetup({ store, leaseMs: 60_000, refillMs: 0 })
      setup.endpoint.answers(
        tokensAfter(() => refuse(true), {
          access_token: 'next',
          refresh_token: 'refresh-1',
          expires_in: 300,
        }),
      )
      expect(await setup.token()).toBe('next')
      expect(await setup.token()).toBe('next')
      expect(await setup.vault.list('ann')).toMatchObject([{ status: 'active', problem: null }])
      // Another process may not send the refresh token that is used up.
      await expect(setup.anotherVault({ waitMs: 100 }).accessToken(REF)).rejects.toMatchObject({
        status: 503,
      })
      setup.endpoint.answers(tokens({ access_token: 'later' }))
      await refuse(false)
      await vi.waitFor(async () => expect(await setup.anotherVault().accessToken(REF)).toBe('next'), {
        timeout: 15_000,
      })
      expect(setup.sent()).toEqual(['refresh-0'])
      await setup.vault.idle()
      setup.later(301)
      expect(await setup.anotherVault().accessToken(REF)).toBe('later')
      expect(setup.sent()).toEqual(['refresh-0', 'refresh-1'])
      expect(setup.logLines.join()).toContain('tokens_unsaved')
      expect(setup.logLines.join()).not.toMatch(/refresh-\d|"next"/)
    },
    30_000,
  )

  test('loses no tokens of a new consent', async () => {
    const { store, refuse } = await redis('full')
    setup = await vaultSetup({ store })
    await refuse(true)
    expect(await setup.vault.connect(REF, GRANTED)).toBe('unsaved')
    expect(await setup.token()).toBe('access-0')
    await refuse(false)
    await setup.vault.idle()
    expect(await setup.anotherVault().accessToken(REF)).toBe('access-0')
  })

  test('until the app stops loses the tokens, which is logged as an error without them', async () => {
    const { store, refuse } = await redis('full')
    setup = await vaultSetup({ store })
    await refuse(true)
    await setup.vault.connect(REF, GRANTED)
    await setup.vault.close(100)
    const lost = setup.logLines.filter((line) => line.includes('tokens_lost'))
    expect(lost).toHaveLength(1)
    expect(lost[0]).toContain('"level":"error"')
    expect(lost[0]).not.toMatch(/access-0|refresh-0/)
  })

  test('does not restore a connection that was disconnected in the meantime', async () => {
    const { store, refuse } = await redis('full')
    setup = await expiredSetup({ store })
    setup.endpoint.answers(tokensAfter(() => refuse(true), { access_token: 'next' }))
    await setup.token()
    await refuse(false)
    await setup.vault.disconnect(REF)
    await setup.vault.idle()
    expect(await setup.store.get(connectionKey('platform', REF))).toBeNull()
  })
})
