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
import type { Done } from './vault-worker.ts'

const PROCESSES = 4
const TOKEN_SECONDS = 2
const CALL_MS = 12_000

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
    /** Lets a process request tokens. Resolves when it has finished, and expects issued tokens and no error. */
    async work(worker: ChildProcess): Promise<void> {
      worker.send({ callMs: CALL_MS })
      const [done] = await once(worker, 'message')
      const { tokens, errors }: Done = done
      expect(errors).toEqual([])
      expect(issued).toEqual(expect.arrayContaining(tokens))
    },
  }
}

// The tests run at the same time, because they mostly wait for tokens to expire.
describe.skipIf(!REDIS).concurrent(`processes of the app${withRedis}`, () => {
  test.for(['SQLite', 'Redis'] as const)(
    'on %s, four of them, send as many requests as there are refreshes',
    async (kind, context) => {
      const { workers, work, requests, refreshes } = await startProcesses(kind, context)
      await Promise.all(workers.map(work))
      expect(requests()).toBeGreaterThan(3)
      // The last refresh may still be under way.
      await context.expect.poll(refreshes).toBe(requests())
    },
  )

  test('on Redis, of which one after the other is killed, send one more request for each of them at most, and no other caller fails', async (context) => {
    const { workers, start, work, requests, refreshes } = await startProcesses('Redis', context)
    const [survivor, ...others] = workers
    if (!survivor) throw new Error('there are four processes')
    const surviving = work(survivor)
    for (const worker of others) worker.send({ callMs: CALL_MS })
    let kills = 0
    for (const end = performance.now() + CALL_MS - 1_000; performance.now() < end; kills++) {
      await pause(1_500)
      others.pop()?.kill('SIGKILL')
      const next = await start()
      next.send({ callMs: CALL_MS })
      others.push(next)
    }
    await surviving
    expect(requests()).toBeLessThanOrEqual((await refreshes()) + kills)
  })
})
