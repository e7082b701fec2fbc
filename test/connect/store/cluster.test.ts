import { setTimeout as pause } from 'node:timers/promises'
import { createClient } from 'redis'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type KeyValueStore, openRedis } from '../../../src/connect/stores.ts'
import { REDIS, withRedis } from '../../support/programs.ts'
import { connectionsReceived, type RedisCluster, startCluster } from '../../support/redis.ts'

// How a cluster fails over is tested in test/real/redis-modes.long.test.ts.
describe.skipIf(!REDIS)(`a Redis Cluster${withRedis}`, () => {
  let cluster: RedisCluster
  let store: KeyValueStore
  beforeAll(async () => {
    cluster = await startCluster({ settings: ['--cluster-require-full-coverage', 'no'] })
    store = await openRedis({ urls: cluster.urls })
    await vi.waitFor(() => store.ping())
  })
  afterAll(async () => {
    await store?.close()
    await cluster?.close()
  })

  test('whose masters answer keeps its connections', async () => {
    const admin = await createClient({ url: cluster.nodes[0]?.url ?? '' }).connect()
    const opened = async () => {
      const before = await connectionsReceived(admin)
      // Its masters are asked twice a second.
      await pause(1_500)
      return (await connectionsReceived(admin)) - before
    }
    // On a busy machine, a master may be silent for so long that its connections are replaced.
    await expect.poll(opened).toBe(0)
    admin.destroy()
  })

  test('is available as long as most of its masters are', async () => {
    const [, second, third] = cluster.nodes
    await third?.kill()
    await vi.waitFor(() => store.ping())
    await second?.kill()
    await expect(store.ping()).rejects.toMatchObject({ status: 503 })
  })
})
