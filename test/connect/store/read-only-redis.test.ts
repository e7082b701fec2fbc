import { createClient } from 'redis'
import { expect, test } from 'vitest'
import { openRedis } from '../../../src/connect/store/redis.ts'
import { REDIS, withRedis } from '../../support/programs.ts'
import { ready, startRedis } from '../../support/redis.ts'

test.skipIf(!REDIS)(
  `a Redis that became a replica answers every read while new connections replace the old ones${withRedis}`,
  async () => {
    const server = await startRedis()
    const admin = await createClient({ url: server.url }).connect()
    const openedAt: number[] = []
    const onState = (state: string) => {
      if (state === 'connected') openedAt.push(performance.now())
    }
    const store = await ready(openRedis({ urls: [server.url], onState }))
    const key = { kind: 'note', owner: 'ann', id: '1' }
    await store.set(key, 'kept')
    await admin.sendCommand(['REPLICAOF', '127.0.0.1', '1'])
    const write = () => expect(store.set(key, 'refused')).rejects.toMatchObject({ status: 503 })
    const answers: unknown[] = []
    while (openedAt.length < 3) {
      // Always some on their way, also at the moment of the change.
      const reads = Array.from({ length: 20 }, () => store.get(key).catch((error) => error))
      await Promise.all([write(), ...reads.map(async (read) => answers.push(await read))])
    }
    expect(new Set(answers)).toEqual(new Set(['kept']))
    const [, second = 0, third = 0] = openedAt
    expect(third - second, 'a refused write replaces only what has been open for a second').toBeGreaterThan(
      990,
    )
    // Those that were replaced are closed when their commands have been answered.
    const clients = async () => String(await admin.sendCommand(['CLIENT', 'LIST', 'TYPE', 'normal']))
    await expect.poll(async () => (await clients()).trim().split('\n').length).toBe(2)
    await store.close()
    admin.destroy()
    await server.close()
  },
)
