import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import express from 'express'
import { onTestFinished } from 'vitest'
import type { PriceItem } from '../../../../src/features/supplier/api/contract.ts'
import {
  type LivePricingOptions,
  livePricingApi,
} from '../../../../src/features/supplier/live-pricing/api.ts'
import { loadPriceList } from '../../../../src/features/supplier/live-pricing/csv-price-provider/load.ts'
import { openPriceList } from '../../../../src/features/supplier/live-pricing/csv-price-provider/price-list.ts'
import { errorResponse } from '../../../../src/features/supplier/live-pricing/errors.ts'
import type { PriceProvider } from '../../../../src/features/supplier/live-pricing/price-provider.ts'
import { endpointNotFound } from '../../../../src/features/supplier/live-pricing/routes.ts'
import { createLog } from '../../../../src/runtime/log.ts'
import { noteMount, requestLog } from '../../../../src/web/requests/request-log.ts'
import { tempDir } from '../../../support/env.ts'
import { serve } from '../../../support/ports.ts'
import { command } from '../../../support/process.ts'

export const SAMPLE = fileURLToPath(
  new URL('../../../../src/features/supplier/live-pricing/sample', import.meta.url),
)
export const CALLER = { id: 'platform', secret: 'a-secret-of-the-platform' }

/** The fields of a request for an access token, and a complete set of them. */
export const GRANT = { grant_type: 'client_credentials' }
export const FULL = { ...GRANT, client_id: CALLER.id, client_secret: CALLER.secret }
export const form = (fields: Record<string, string> | string) => ({
  body: new URLSearchParams(fields).toString(),
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
})

/** CSV files as lines, by name without `.csv`. */
export type Files = Record<string, string[]>

/** A small price list: two stores, a few items, members and discounts. */
export const SMALL: Files = {
  stores: [
    'id,name,latitude,longitude,time_zone,state',
    'S1,First,-37.77,145.00,Australia/Melbourne,VIC',
    'S2,Second,-33.87,151.21,Australia/Sydney,NSW',
  ],
  items: [
    'code,name,category,price',
    'A,Board,Timber,12.50',
    'B,Nail,Fixings,0.0835',
    'C,Beam,Timber,POA',
    'D,Tile,Tiles,',
  ],
  prices: ['item,store,price', 'A,S2,13.75', 'B,S2,NONE', 'D,S1,40'],
  members: ['number,group', 'CUST1,trade', 'CUST2,'],
  discounts: ['item,category,group,percent,amount,price,min_quantity', 'A,,trade,10,,,', ',Timber,,,2,,100'],
}

/** Writes CSV files into a folder. */
export function writeFiles(dir: string, files: Files): string {
  mkdirSync(dir, { recursive: true })
  for (const [name, lines] of Object.entries(files))
    writeFileSync(join(dir, `${name}.csv`), lines.map((line) => `${line}\n`).join(''))
  return dir
}

export type Supplier = Awaited<ReturnType<typeof startSupplier>>

/** The live pricing API over HTTP, from CSV files, a folder of such, or a price provider of the test's own. */
export async function startSupplier(
  source: Files | PriceProvider | string = SMALL,
  { trustProxy = 0, ...options }: Partial<LivePricingOptions> & { trustProxy?: number } = {},
) {
  const { dir, remove } = tempDir()
  const logLines: string[] = []
  const log = createLog('info', { write: (line) => void logLines.push(line) })
  const isProvider = (of: Files | PriceProvider): of is PriceProvider => typeof of.prices === 'function'
  const open = async (folder: string) => {
    await loadPriceList(folder, join(dir, 'list'))
    return openPriceList(join(dir, 'list'), options.now)
  }
  const provider =
    typeof source === 'string' || !isProvider(source)
      ? await open(typeof source === 'string' ? source : writeFiles(join(dir, 'csv'), source))
      : source
  const { server, port, close } = await serve()
  const url = `http://localhost:${port}/live-pricing`
  const keys = [{ id: 'k1', secret: new Uint8Array(32).fill(7) }]
  const defaults = { provider, clients: [CALLER], keys, baseUrl: url, rateLimit: null, log }
  const app = express().disable('etag').set('trust proxy', trustProxy)
  app.use(requestLog(log))
  const api = livePricingApi({ ...defaults, ...options })
  app.use('/live-pricing', noteMount('/live-pricing'), api, endpointNotFound, errorResponse)
  server.on('request', app)

  /** A new access token. */
  const token = async () => {
    const answer = await fetch(`${url}/connect/token`, { method: 'POST', ...form(FULL) })
    return String(((await answer.json()) as { access_token: unknown }).access_token)
  }
  let known: string | undefined
  /** Sends a request with an access token. A text is sent unchanged, and any other body as JSON. */
  const call = async (path: string, body?: unknown, headers: Record<string, string> = {}) => {
    known ??= await token()
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    return fetch(url + path, {
      headers: { authorization: `Bearer ${known}`, ...type, ...headers },
      ...(body !== undefined && { method: 'POST', body: text }),
    })
  }
  return {
    url,
    logLines,
    token,
    call,
    /** The answers to a price request. */
    async prices(items: unknown[], memberNumber?: string): Promise<PriceItem[]> {
      const answer = await call('/request-prices', { items, memberNumber })
      if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`)
      return (await answer.json()) as PriceItem[]
    },
    async close() {
      await close()
      if (provider !== source) provider.close?.()
      remove()
    },
  }
}

/** A line of a price request. */
export const line = (itemId: string, storeId = 'S1', quantity: unknown = 1) => ({ itemId, storeId, quantity })

/** A live pricing API for one test, which is closed at its end. */
export async function testSupplier(...of: Parameters<typeof startSupplier>): Promise<Supplier> {
  const supplier = await startSupplier(...of)
  onTestFinished(supplier.close)
  return supplier
}

/** Runs `npm run feature -- live-pricing load-prices`. */
export const loadPrices = (dataDir: string, ...args: string[]) =>
  command('src/features/supplier/live-pricing/cli-load-prices.ts', { DATA_DIR: dataDir }, { args })
