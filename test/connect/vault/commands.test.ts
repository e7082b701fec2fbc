import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openRedis } from '../../../src/connect/stores.ts'
import { REDIS, withRedis } from '../../support/programs.ts'
import { createClient, type RedisServer, ready, startRedis } from '../../support/redis.ts'
import { connectedSetup, REF, type VaultSetup } from '../../support/vault.ts'

describe.skipIf(!REDIS)(`a call with a token${withRedis}`, () => {
  let redis: RedisServer
  let admin: ReturnType<typeof createClient>
  let setup: VaultSetup
  beforeAll(async () => {
    redis = await startRedis()
    admin = createClient({ url: redis.url })
    await admin.connect()
    setup = await connectedSetup({ store: await ready(await openRedis({ urls: [redis.url] })) })
  })
  afterAll(async () => {
    await setup.close()
    admin.destroy()
    await redis.close()
  })

  /** How many commands the server has executed so far, also in scripts. Those that watch the connection do not count. */
  async function commands(): Promise<number> {
    const stats = [...(await admin.info('commandstats')).matchAll(/cmdstat_(\w+):calls=(\d+)/g)]
    const counted = stats.filter(([, name = '']) => !['hello', 'info'].includes(name))
    return counted.reduce((sum, [, , calls]) => sum + Number(calls), 0)
  }

  test.each([
    ['has expired', 301],
    ['is rejected by the API', 61],
  ])(
    'that %s costs Redis at most 9 commands, and 3 more in the first call of a minute',
    async (_why, seconds) => {
      setup.later(seconds)
      const source = setup.vault.tokenSource(REF)
      const ok = { result: 'ok', call: 'GET leads', scope: 'leads' } as const
      const before = await commands()
      const token = await source.accessToken()
      if (seconds < 300) expect(await source.refresh(token)).not.toBe(token)
      expect((await commands()) - before).toBeLessThanOrEqual(9)
      await source.noteCall(ok)
      const first = await commands()
      expect(first - before).toBeLessThanOrEqual(12)
      await source.noteCall(ok)
      expect(await commands()).toBe(first)
      expect(setup.sent().length).toBe(seconds < 300 ? 2 : 1)
    },
  )
})
