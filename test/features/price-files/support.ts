import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { type Api, createApi } from '../../../src/connect/platform/api.ts'
import { createHttp } from '../../../src/connect/platform/http.ts'
import { openSqlite } from '../../../src/connect/store/sqlite.ts'
import type { Store } from '../../../src/connect/store/store.ts'
import { type Catalogues, createCatalogues } from '../../../src/features/catalogues/catalogues.ts'
import { createFirstPartyAccess, type FirstPartyAccess } from '../../../src/features/first-party/access.ts'
import {
  createFirstParty,
  type FirstPartyCredentials,
} from '../../../src/features/first-party/first-party.ts'
import { createLog } from '../../../src/runtime/log.ts'
import type { SandboxOptions } from '../../../src/sandbox/sandbox.ts'
import { createSandbox } from '../../../src/sandbox/sandbox.ts'
import { tempDir } from '../../support/app.ts'
import { freePort, serve } from '../../support/ports.ts'
import { answering, type Program, run } from '../../support/process.ts'
import { newKey } from '../../support/vault.ts'

/** The sandbox's supplier, by API key. */
export const CREDENTIALS: FirstPartyCredentials = {
  email: 'priya@summit.example',
  apiKey: 'sandbox-api-key',
  subscriptionKey: 'sandbox-subscription-key',
}
const SILENT = createLog('silent', { write: () => {} })
const FAST: Partial<SandboxOptions> = {
  rateLimit: { limit: 1_000_000, windowMs: 1_000 },
  features: { 'price-files': { importTiming: { itemsPerSecond: 10_000_000, settleMs: 50 } } },
}

export interface SupplierPlatform {
  url: string
  apiUrl: string
  /** What a command needs to work with it, on a data folder of its own. */
  env: Record<string, string>
  dir: string
  /** Every item of a catalogue, by code. */
  items(catalogueId: string): Promise<Map<string, Record<string, unknown>>>
  /** The ids of the supplier's own catalogues, by name. */
  catalogueIds(): Promise<Map<string, string>>
  calls(): Promise<{ endpoint: string; status: number | string }[]>
  /** Sets a fault; `none` clears it. */
  fault(endpoint: string, fault: string, times?: number, retryAfter?: number): Promise<void>
  post(path: string): Promise<void>
  close(): Promise<void>
}

/** The sandbox over HTTP, here or in a process of its own; without limits unless `options` says otherwise. */
export async function startPlatform(
  options: Partial<SandboxOptions> = {},
  { apart = false } = {},
): Promise<SupplierPlatform> {
  const { dir, remove } = tempDir()
  const { url, close } = apart
    ? await sandboxApart({ ...FAST, ...options })
    : await sandboxHere({ ...FAST, ...options })
  const apiUrl = `${url}/api`
  const key = randomBytes(32).toString('base64')
  const post = async (path: string, body: unknown = {}) => {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    if (!answer.ok) throw new Error(`${path}: ${answer.status}`)
  }
  return {
    ...{ url, apiUrl, dir },
    env: {
      ...{ DATA_DIR: dir, TOKEN_KEYS: `k1:${key}`, SESSION_SECRET: 'x', PLATFORM_API_URL: apiUrl },
      ...{ PLATFORM_EMAIL: CREDENTIALS.email, PLATFORM_API_KEY: CREDENTIALS.apiKey },
      ...{ PLATFORM_SUBSCRIPTION_KEY: CREDENTIALS.subscriptionKey, PLATFORM_RATE_LIMIT: 'off' },
    },
    async items(catalogueId) {
      const all = new Map<string, Record<string, unknown>>()
      for (let after = ''; ; ) {
        const query = new URLSearchParams({ after, top: '5000' })
        const answer = await fetch(`${url}/sandbox/catalogues/${catalogueId}/items?${query}`)
        const { items } = (await answer.json()) as { items: { code: string }[] }
        for (const item of items) all.set(item.code, item)
        const last = items.at(-1)
        if (!last || items.length < 5000) return all
        after = last.code
      }
    },
    async catalogueIds() {
      const headers = {
        'content-type': 'application/json',
        'ocp-apim-subscription-key': CREDENTIALS.subscriptionKey,
      }
      const body = JSON.stringify({ email: CREDENTIALS.email, apiKey: CREDENTIALS.apiKey })
      const login = await fetch(`${apiUrl}/accounts/auth/login`, { method: 'POST', headers, body })
      const { accessToken } = (await login.json()) as { accessToken: string }
      const authorization = `Bearer ${accessToken}`
      const list = await fetch(`${apiUrl}/catalogues?$top=100`, { headers: { ...headers, authorization } })
      const catalogues = (await list.json()) as { id: string; name: string }[]
      return new Map(catalogues.map(({ id, name }) => [name, id]))
    },
    async calls() {
      const answer = await fetch(`${url}/sandbox/faults`, { headers: { accept: 'application/json' } })
      return ((await answer.json()) as { calls: [] }).calls
    },
    fault: (endpoint, fault, times, retryAfter) =>
      post('/sandbox/faults', { endpoint, fault, times, retryAfter }),
    post,
    close: async () => {
      await close()
      remove()
    },
  }
}

async function sandboxHere(options: Partial<SandboxOptions>) {
  const server = await serve()
  const url = `http://127.0.0.1:${server.port}`
  const sandbox = createSandbox({ baseUrl: url, apps: [], file: ':memory:', ...options })
  server.server.on('request', sandbox.app)
  return {
    url,
    close: async () => {
      await server.close()
      sandbox.close()
    },
  }
}

async function sandboxApart(options: Partial<SandboxOptions>) {
  const PORT = String(await freePort())
  const program = run('test/support/sandbox-process.ts', { PORT, OPTIONS: JSON.stringify(options) })
  const url = `http://127.0.0.1:${PORT}`
  await answering(url, program)
  return { url, close: async () => void (await program.kill()) }
}

export interface Supplier {
  api: Api
  source: FirstPartyAccess
  catalogues: Catalogues
  store: Store
  /** A new catalogue's id. */
  newCatalogue(name?: string): Promise<string>
  close(): Promise<void>
}

/** The client side, by API key, with a store of its own unless one is given. */
export function openSupplier(
  apiUrl: string,
  {
    store = openSqlite({ file: ':memory:' }),
    keys = [newKey()],
    credentials = CREDENTIALS,
    uploadMs = 5_000,
  } = {},
): Supplier {
  const http = createHttp()
  const uploads = createHttp({ answerMs: uploadMs, deadlineMs: uploadMs })
  const api = createApi({ baseUrl: apiUrl, http, uploads })
  const firstParty = createFirstParty({ ...credentials, baseUrl: apiUrl, http })
  const source = createFirstPartyAccess({
    ...{ store, keys, firstParty, credentials, log: SILENT },
    minIntervalMs: 0,
  })
  const catalogues = createCatalogues(api)
  return {
    ...{ api, source, catalogues, store },
    async newCatalogue(name = 'National RRP') {
      return String((await catalogues.create(source, { name, scope: 'Public' })).id)
    },
    close: async () => {
      await Promise.all([http.close(), uploads.close(), store.close()])
    },
  }
}

/** Runs `push-catalogue`. */
export function push(platform: SupplierPlatform, args: string[], env: Record<string, string> = {}): Program {
  // In a folder without an `.env`.
  return run(
    'src/features/price-files/cli-push-catalogue.ts',
    { ...platform.env, ...env },
    { args, cwd: platform.dir },
  )
}

/** The item of a generated price file's row. */
export const itemOf = (row: number) => ({
  ...{ code: `ITEM-${String(row).padStart(7, '0')}`, name: `Framing timber, 90x45, ${row} mm`, unit: 'each' },
  ...{ category: `Range ${row % 9}`, price: (((row * 7919) % 99_999) + 100) / 100 },
})

const HEAD = 'code,name,unit,category,price\n'
const lineOf = (row: number) => {
  const { code, name, unit, category, price } = itemOf(row)
  return `${code},"${name}",${unit},${category},${price.toFixed(2)}\n`
}

/** A price file of so many rows in memory, in chunks. */
export async function* priceRows(rows: number): AsyncGenerator<Buffer> {
  let text = HEAD
  for (let row = 0; row < rows; row++) {
    text += lineOf(row)
    if (text.length < 65_536) continue
    yield Buffer.from(text)
    text = ''
  }
  yield Buffer.from(text)
}

/** A price file of so many rows on disk; resolves to its path. */
export async function writePriceFile(
  dir: string,
  rows: number,
  name = `prices-${rows}.csv`,
): Promise<string> {
  const path = join(dir, name)
  const file = createWriteStream(path)
  for await (const chunk of priceRows(rows)) if (!file.write(chunk)) await once(file, 'drain')
  file.end()
  await once(file, 'close')
  return path
}
