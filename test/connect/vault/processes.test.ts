import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openRedis } from '../../../src/connect/store/redis.ts'
import { forkWorker } from '../../support/process.ts'
import { REDIS, withRedis } from '../../support/programs.ts'
import { type RedisServer, ready, startRedis } from '../../support/redis.ts'
import { oauthError, type Scripted, tokens } from '../../support/token-endpoint.ts'
import { GRANTED, newKey, REF, type VaultSetup, vaultSetup } from '../../support/vault.ts'

/** How long a lock lives without its holder; five seconds in production. */
const LEASE_MS = 1_000

describe.skipIf(!REDIS)(`four processes on one expired token on Redis${withRedis}`, () => {
  let server: RedisServer
  let setup: VaultSetup
  let workers: ChildProcess[]

  beforeEach(async () => {
    server = await startRedis()
    const store = await ready(openRedis({ urls: [server.url] }))
    const key = newKey()
    setup = await vaultSetup({ store, keys: [key] })
    await setup.vault.connect(REF, { ...GRANTED, expiresIn: 0 })
    const env = {
      REDIS_URL: server.url,
      AUTH_URL: setup.endpoint.authUrl,
      KEY: key.secret.toString('base64'),
      LEASE_MS: String(LEASE_MS),
      INTERRUPTED_MS: '300',
    }
    workers = Array.from({ length: 4 }, () => forkWorker('vault-worker.ts', env))
    await Promise.all(workers.map((worker) => once(worker, 'message')))
  })
  afterEach(async () => {
    for (const worker of workers) worker.kill('SIGKILL')
    await setup.close()
    await server.close()
  })

  /** Runs 100 callers in each of these processes. Resolves to their tokens. */
  async function request(processes: ChildProcess[]): Promise<string[]> {
    const answers = await Promise.all(
      processes.map(async (worker) => {
        worker.send(100)
        const [got] = await once(worker, 'message')
        return got as string[]
      }),
    )
    return answers.flat()
  }

  test('with 100 callers each: the platform receives one refresh, and every caller gets the new token', async () => {
    setup.endpoint.answers(async (res) => {
      await pause(200)
      res.writeHead(200, { 'content-type': 'application/json' })
      res.end(JSON.stringify((tokens({ access_token: 'next' }) as { json: unknown }).json))
    })
    const got = await request(workers)
    expect(got).toHaveLength(400)
    expect(new Set(got)).toEqual(new Set(['next']))
    expect(setup.endpoint.requests).toHaveLength(1)
  })

  test('if the holder is killed during the refresh: all others are served once its lock expires, and no connection is lost', async () => {
    const [holder, ...others] = workers as [ChildProcess, ...ChildProcess[]]
    const asked = new Promise<void>((resolve) => {
      setup.endpoint.answers(() => resolve(), tokens({ access_token: 'next' }))
    })
    holder.send(100)
    await asked
    holder.kill('SIGKILL')
    const started = performance.now()
    const got = await request(others)
    expect(new Set(got)).toEqual(new Set(['next']))
    expect(got).toHaveLength(300)
    expect(setup.endpoint.requests).toHaveLength(2)
    // The rest is room for a busy machine.
    expect(performance.now() - started).toBeLessThan(LEASE_MS + 4_000)
    expect(await setup.vault.find(REF)).toMatchObject({ status: 'active' })
  })
})

describe.skipIf(!REDIS)(`a process that is stopped in the middle of a refresh${withRedis}`, () => {
  let server: RedisServer
  let setup: VaultSetup
  let worker: ChildProcess

  beforeEach(async () => {
    server = await startRedis()
    const store = await ready(openRedis({ urls: [server.url] }))
    const key = newKey()
    setup = await vaultSetup({ store, keys: [key], now: Date.now, interruptedMs: 300 })
    await setup.vault.connect(REF, { ...GRANTED, expiresIn: 0 })
    worker = forkWorker('vault-worker.ts', {
      REDIS_URL: server.url,
      AUTH_URL: setup.endpoint.authUrl,
      KEY: key.secret.toString('base64'),
      LEASE_MS: '500',
    })
    await once(worker, 'message')
  })
  afterEach(async () => {
    worker.kill('SIGKILL')
    await setup.close()
    await server.close()
  })

  /** Answers the worker's refresh with `answer` while it is stopped and another process refreshes. */
  async function refreshWhileStopped(answer: Record<string, unknown>, meanwhile: Scripted): Promise<void> {
    const asked = new Promise<void>((resolve) => {
      setup.endpoint.answers(async (res) => {
        worker.kill('SIGSTOP')
        res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
        resolve()
      }, meanwhile)
    })
    worker.send(1)
    await asked
    await setup.vault.accessToken(REF).catch(() => {})
    worker.kill('SIGCONT')
    await once(worker, 'message')
    expect(setup.endpoint.requests).toHaveLength(2)
  }

  test('does not overwrite the result of a request that was sent later', async () => {
    await refreshWhileStopped({ access_token: 'earlier', expires_in: 300 }, tokens({ access_token: 'later' }))
    expect(await setup.vault.accessToken(REF)).toBe('later')
  })

  test('restores the connection that another process marked as revoked because the rotated token was used up', async () => {
    await refreshWhileStopped(
      { access_token: 'good', refresh_token: 'refresh-1', expires_in: 300 },
      oauthError('invalid_grant'),
    )
    expect(await setup.vault.accessToken(REF)).toBe('good')
    expect(await setup.vault.find(REF)).toMatchObject({ status: 'active' })
  })
})
