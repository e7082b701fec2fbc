/** A price file to the platform by `runImport`. Prints ms and peak memory. */
import { createApi } from '../../../../src/connect/platform/api.ts'
import { createHttp } from '../../../../src/connect/platform/http.ts'
import { createCatalogueImports } from '../../../../src/features/price-files/catalogue-imports.ts'
import { readBatches } from '../../../../src/features/price-files/reader.ts'
import { runImport } from '../../../../src/features/price-files/run.ts'
import { BARE_SOURCE } from '../../../bench/platform.ts'

const { FILE = '', PLATFORM_API_URL = '' } = process.env
const started = performance.now()
const http = createHttp()
await runImport({
  catalogueImports: createCatalogueImports(createApi({ baseUrl: PLATFORM_API_URL, http })),
  source: BARE_SOURCE,
  catalogueId: '1',
  batchId: 'b',
  batches: readBatches(FILE),
})
console.log(JSON.stringify({ ms: performance.now() - started, peak: process.resourceUsage().maxRSS }))
await http.close()
