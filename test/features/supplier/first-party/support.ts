import { randomBytes } from 'node:crypto'
import { type Api, createApi, createHttp, platform } from '../../../../src/connect/index.ts'
import { type KeyValueStore, openSqlite } from '../../../../src/connect/stores.ts'
import {
  createFirstPartyAccess,
  type FirstPartyAccess,
} from '../../../../src/features/supplier/first-party/access.ts'
import type { FirstPartyCredentials } from '../../../../src/features/supplier/first-party/settings.ts'
import { createLog } from '../../../../src/runtime/log.ts'
import { loadSandboxFeatures } from '../../../../src/sandbox/load.ts'
import { createSandbox, type SandboxOptions } from '../../../../src/sandbox/sandbox.ts'
import { type TempDir, tempDir } from '../../../support/env.ts'
import { serve } from '../../../support/ports.ts'
import { newKey } from '../../../support/vault.ts'

/** The sandbox's supplier, by API key. */
export const CREDENTIALS: FirstPartyCredentials = {
  email: 'priya@summit.example',
  apiKey: 'sandbox-api-key',
  subscriptionKey: 'sandbox-subscription-key',
}
const SILENT = createLog('silent', { write: () => {} })

/** Its folder is the test's own, without an `.env`; `close` removes it. */
export interface Platform extends Pick<TempDir, 'dir' | 'write'> {
  url: string
  apiUrl: string
  /** The settings of a command with an API key. Its files go to `dir`. */
  env: Record<string, string>
  /** The latest calls, the latest first. */
  calls(): Promise<{ endpoint: string; status: number | string }[]>
  /** The statuses of the calls of one endpoint, the latest first. */
  statusesOf(endpoint: string): Promise<(number | string)[]>
  /** Sets a fault; `none` clears it. */
  fault(endpoint: string, fault: string, times?: number, retryAfter?: number): Promise<void>
  /** Lets requests to this path wait until `release`. `arrived`: how many are waiting. */
  hold(path: string): { arrived(): number; release(): void }
  post(path: string): Promise<void>
  close(): Promise<void>
}

/** The sandbox over HTTP, without a limit unless `options` sets one. */
export async function startPlatform(options: Partial<SandboxOptions> = {}): Promise<Platform> {
  const { dir, write, remove } = tempDir()
  const { url, hold, close } = await openSandbox({
    rateLimit: { limit: 1_000_000, windowMs: 1_000 },
    ...options,
  })
  const apiUrl = `${url}/api`
  const post = async (path: string, body: unknown = {}) => {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    if (!answer.ok) throw new Error(`${path}: ${answer.status}`)
  }
  const calls: Platform['calls'] = async () => {
    const answer = await fetch(`${url}/sandbox/faults`, { headers: { accept: 'application/json' } })
    return ((await answer.json()) as { calls: [] }).calls
  }
  return {
    url,
    apiUrl,
    dir,
    write,
    env: {
      DATA_DIR: dir,
      TOKEN_ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
      SESSION_SECRET: 'x',
      PLATFORM_API_URL: apiUrl,
      PLATFORM_API_EMAIL: CREDENTIALS.email,
      PLATFORM_API_KEY: CREDENTIALS.apiKey,
      PLATFORM_SUBSCRIPTION_KEY: CREDENTIALS.subscriptionKey,
    },
    calls,
    statusesOf: async (endpoint) =>
      (await calls()).filter((call) => call.endpoint === endpoint).map(({ status }) => status),
    fault: (endpoint, fault, times, retryAfter) =>
      post('/sandbox/faults', { endpoint, fault, times, retryAfter }),
    hold,
    post,
    close: async () => {
      await close()
      remove()
    },
  }
}

async function openSandbox(options: Partial<SandboxOptions>) {
  const server = await serve()
  const url = `http://127.0.0.1:${server.port}`
  const sandbox = createSandbox({
    simulated: await loadSandboxFeatures(),
    baseUrl: url,
    apps: [],
    file: ':memory:',
    ...options,
  })
  let held = { path: '', until: Promise.resolve(), arrived: 0 }
  server.server.on('request', async (req, res) => {
    if (req.url?.includes(held.path)) {
      held.arrived++
      await held.until
    }
    sandbox.app(req, res)
  })
  return {
    url,
    hold(path: string) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const waiting = { path, until: promise, arrived: 0 }
      held = waiting
      return { arrived: () => waiting.arrived, release: resolve }
    },
    close: async () => {
      await server.close()
      sandbox.close()
    },
  }
}

export interface ApiKeyAccess {
  api: Api
  source: FirstPartyAccess
  store: KeyValueStore
  close(): Promise<void>
}

/** The client side, by API key, with a store of its own unless one is given. */
export function openAccess(
  apiUrl: string,
  {
    store = openSqlite({ file: ':memory:' }),
    keys = [newKey()],
    credentials = CREDENTIALS,
    now = Date.now,
  } = {},
): ApiKeyAccess {
  const http = createHttp()
  return {
    api: createApi({ platform, baseUrl: apiUrl, http }),
    source: createFirstPartyAccess({ ...credentials, baseUrl: apiUrl, http, store, keys, log: SILENT, now }),
    store,
    close: async () => {
      await Promise.all([http.close(), store.close()])
    },
  }
}
