/**
 * A price file to the platform by `checkFile` and `runImport`. Prints ms of all and of sending, and peak memory, for which
 * `IN_ONE=true` checks the file in this process.
 */
import { createApi, createHttp, platform } from '../../../../src/connect/index.ts'
import { readBatches } from '../../../../src/features/price-files/batches.ts'
import { createCatalogueImports } from '../../../../src/features/price-files/catalogue-imports.ts'
import { checkFile } from '../../../../src/features/price-files/check-file.ts'
import { checkPriceFile } from '../../../../src/features/price-files/check-rows.ts'
import { runImport } from '../../../../src/features/price-files/run.ts'
import { BARE_SOURCE } from '../../../bench/platform.ts'

const { FILE = '', PLATFORM_API_URL = '', IN_ONE } = process.env
const started = performance.now()
const http = createHttp()
const itemsPath = `${FILE}.items`
const { check } = await (IN_ONE ? checkPriceFile(FILE, { itemsPath }) : checkFile({ path: FILE, itemsPath }))
const checkedAt = performance.now()
await runImport({
  catalogueImports: createCatalogueImports(createApi({ platform, baseUrl: PLATFORM_API_URL, http })),
  source: BARE_SOURCE,
  catalogueId: '1',
  batchId: 'b',
  batches: (skip) => readBatches(itemsPath, { total: check.validRows, skip }),
})
const endedAt = performance.now()
console.log(
  JSON.stringify({
    ms: endedAt - started,
    sendMs: endedAt - checkedAt,
    peak: process.resourceUsage().maxRSS,
  }),
)
await http.close()
