import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openRedis } from '../../../src/connect/store/redis.ts'
import { forkWorker } from '../../support/process.ts'
import { REDIS, withRedis } from '../../support/programs.ts'
import { type RedisServer, ready, startRedis } from '../../support/redis.ts'
import { oauthError, type Scripted, tokens } from '../../support/token-endpoint.ts'
import { GRANTED, newKey, type VaultSetup, vaultSetup } from '../../support/vault.ts'

describe.skipIf(!REDIS)(`four processes on one expired token on Redis${withRedis}`, () => {
  let server: RedisServer
  let setup: VaultSetup
  let workers: ChildProcess[]

  beforeEach(async () => {
    server = await startRedis()
    const store = await ready(openRedis({ urls: [server.url] }))
    const key = newKey()
    setup = await vaultSetup({ store, keys: [key] })
    await setup.vault.connect('ann', 'ctx', { ...GRANTED, expiresIn: 0 })
    const env = {
      REDIS_URL: server.url,
      AUTH_URL: setup.endpoint.authUrl,
      KEY: key.secret.toString('base64'),
    }
    workers = Array.from({ length: 4 }, () => forkWorker('vault-worker.ts', env))
    await Promise.all(workers.map((worker) => once(worker, 'message')))
  })
  afterEach(async () => {
    for (const worker of workers) worker.kill('SIGKILL')
    await setup.close()
    await server.close()
  })

  /** 100 callers in each of these processes; all that they got. */
  async function ask(asked: ChildProcess[]): Promise<string[]> {
    const answers = await Promise.all(
      asked.map(async (worker) => {
        worker.send(100)
        const [got] = await once(worker, 'message')
        return got as string[]
      }),
    )
    return answers.flat()
  }

  test('with 100 callers each: one refresh reaches the platform, and everyone gets the new token', async () => {
    setup.endpoint.answers(async (res) => {
      await new Promise((resolve) => setTimeout(resolve, 200))
      res.writeHead(200, { 'content-type': 'application/json' })
      res.end(JSON.stringify((tokens({ access_token: 'next' }) as { json: unknown }).json))
    })
    const got = await ask(workers)
    expect(got).toHaveLength(400)
    expect(new Set(got)).toEqual(new Set(['next']))
    expect(setup.endpoint.requests).toHaveLength(1)
  })

  test('the holder killed in mid-refresh: everyone else is served after its lease, and no connection is lost', async () => {
    const [holder, ...others] = workers as [ChildProcess, ...ChildProcess[]]
    const asked = new Promise<void>((resolve) => {
      setup.endpoint.answers(() => resolve(), tokens({ access_token: 'next' }))
    })
    holder.send(100)
    await asked
    holder.kill('SIGKILL')
    const started = performance.now()
    const got = await ask(others)
    expect(new Set(got)).toEqual(new Set(['next']))
    expect(got).toHaveLength(300)
    expect(setup.endpoint.requests).toHaveLength(2)
    // The lease is five seconds; the rest is room for a busy machine.
    expect(performance.now() - started).toBeLessThan(9_000)
    expect(await setup.vault.find('ann', 'ctx')).toMatchObject({ status: 'active' })
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
    setup = await vaultSetup({ store, keys: [key], now: Date.now })
    await setup.vault.connect('ann', 'ctx', { ...GRANTED, expiresIn: 0 })
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

  /** The worker's refresh is answered with `answer` while it is stopped; meanwhile another process refreshes. */
  async function outlived(answer: Record<string, unknown>, meanwhile: Scripted): Promise<void> {
    const asked = new Promise<void>((resolve) => {
      setup.endpoint.answers(async (res) => {
        worker.kill('SIGSTOP')
        res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
        resolve()
      }, meanwhile)
    })
    worker.send(1)
    await asked
    await setup.vault.accessToken('ann', 'ctx').catch(() => {})
    worker.kill('SIGCONT')
    await once(worker, 'message')
    expect(setup.endpoint.requests).toHaveLength(2)
  }

  test('does not overwrite the result of a request that was sent later', async () => {
    await outlived({ access_token: 'earlier', expires_in: 300 }, tokens({ access_token: 'later' }))
    expect(await setup.vault.accessToken('ann', 'ctx')).toBe('later')
  })

  test('brings back the connection whose rotated token the other one found used up', async () => {
    await outlived(
      { access_token: 'good', refresh_token: 'refresh-1', expires_in: 300 },
      oauthError('invalid_grant'),
    )
    expect(await setup.vault.accessToken('ann', 'ctx')).toBe('good')
    expect(await setup.vault.find('ann', 'ctx')).toMatchObject({ status: 'active' })
  })
})
