/** A price file to the platform by `runImport`. Prints ms and peak memory. */

import { createApi } from '../../../../src/connect/platform/api.ts'
import { createHttp } from '../../../../src/connect/platform/http.ts'
import { createRateLimiter } from '../../../../src/connect/platform/rate-limiter.ts'
import { openSqlite } from '../../../../src/connect/store/sqlite.ts'
import { createCatalogues } from '../../../../src/features/catalogues/catalogues.ts'
import { readBatches } from '../../../../src/features/price-files/reader.ts'
import { runImport } from '../../../../src/features/price-files/run.ts'

const { FILE = '', PLATFORM_API_URL = '', LIMIT = '', WINDOW_MS = '', DATA_DIR = '' } = process.env
const started = performance.now()
const http = createHttp()
const catalogues = createCatalogues(createApi({ baseUrl: PLATFORM_API_URL, http }))
const source = {
  accessToken: async () => 'token',
  refresh: async () => 'token',
  grantedScopes: async () => null,
  account: 'one',
  noteCall: async () => {},
}
const store = openSqlite({ file: LIMIT ? `${DATA_DIR}/store.sqlite` : ':memory:' })
const limiter = LIMIT && createRateLimiter(store, { limit: Number(LIMIT), windowMs: Number(WINDOW_MS) })
const paced = limiter ? { ...source, pace: () => limiter.acquire('bench') } : source
await runImport({
  ...{ catalogues, source: paced, catalogueId: '1', batchId: 'b', batches: readBatches(FILE) },
})
console.log(JSON.stringify({ ms: performance.now() - started, peak: process.resourceUsage().maxRSS }))
await http.close()
await store.close()
