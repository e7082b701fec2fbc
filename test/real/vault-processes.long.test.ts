import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, type TestContext, test } from 'vitest'
import { openRedis, openSqlite } from '../../src/connect/stores.ts'
import { tempDir } from '../support/env.ts'
import { forkWorker } from '../support/process.ts'
import { REDIS, withRedis } from '../support/programs.ts'
import { ready, startRedis } from '../support/redis.ts'
import { consent, newKey, REF, vaultSetup } from '../support/vault.ts'
import type { Done, Message } from './vault-worker.ts'

const PROCESSES = 4
const TOKEN_SECONDS = 2
const KILLS = 4

/** Processes that share a store with one connection, and the tokens that were issued for it. */
async function startProcesses(kind: 'SQLite' | 'Redis', { onTestFinished }: TestContext) {
  const { dir, remove } = tempDir()
  onTestFinished(remove)
  const redis = kind === 'Redis' ? await startRedis() : null
  onTestFinished(() => redis?.close())
  const address = redis?.url ?? join(dir, 'store.sqlite')
  const store = redis ? await ready(await openRedis({ urls: [address] })) : openSqlite({ file: address })
  const key = newKey()
  const { vault, endpoint, close } = await vaultSetup({ store, keys: [key], now: Date.now })
  onTestFinished(close)
  await consent(vault, { expiresIn: TOKEN_SECONDS })
  const issued = ['access-0']
  endpoint.answers((res) => {
    const access_token = `access-${issued.length}`
    issued.push(access_token)
    res.writeHead(200, { 'content-type': 'application/json' })
    res.end(JSON.stringify({ access_token, expires_in: TOKEN_SECONDS }))
  })
  const env = { STORE: address, AUTH_URL: endpoint.authUrl, KEY: key.secret.toString('base64') }
  const start = async (): Promise<ChildProcess> => {
    const worker = forkWorker('../real/vault-worker.ts', env)
    onTestFinished(() => void worker.kill('SIGKILL'))
    await once(worker, 'message')
    return worker
  }
  return {
    start,
    workers: await Promise.all(Array.from({ length: PROCESSES }, start)),
    requests: () => endpoint.requests.length,
    refreshes: async () => (await vault.find(REF))?.tokens?.refreshes ?? 0,
    /** Lets processes request tokens while `during` runs. Then expects that they got issued tokens, and no error. */
    async work(callers: ChildProcess[], during: () => Promise<unknown>): Promise<void> {
      for (const caller of callers) caller.send('work' satisfies Message)
      await during()
      await Promise.all(
        callers.map(async (caller) => {
          caller.send('stop' satisfies Message)
          const [done] = await once(caller, 'message')
          const { tokens, errors }: Done = done
          expect(errors).toEqual([])
          expect(issued).toEqual(expect.arrayContaining(tokens))
        }),
      )
    },
  }
}

// The tests run at the same time, because they mostly wait for tokens to expire.
describe.skipIf(!REDIS).concurrent(`processes of the app${withRedis}`, () => {
  test.for(['SQLite', 'Redis'] as const)(
    'on %s, four of them, send as many requests as there are refreshes',
    async (kind, context) => {
      const { workers, work, requests, refreshes } = await startProcesses(kind, context)
      await work(workers, () => context.expect.poll(requests).toBeGreaterThan(3))
      // The last refresh may still be under way.
      await context.expect.poll(refreshes).toBe(requests())
    },
  )

  test('on Redis, of which one after the other is killed, send one more request for each of them at most, and no other caller fails', async (context) => {
    const { workers, start, work, requests, refreshes } = await startProcesses('Redis', context)
    const [survivor, ...others] = workers
    if (!survivor) throw new Error('there are four processes')
    for (const worker of others) worker.send('work' satisfies Message)
    await work([survivor], async () => {
      for (let kill = 0; kill < KILLS; kill++) {
        await pause(1_500)
        others.pop()?.kill('SIGKILL')
        const next = await start()
        next.send('work' satisfies Message)
        others.push(next)
      }
    })
    expect(requests()).toBeLessThanOrEqual((await refreshes()) + KILLS)
  })
})
