/** Imports a price file in a process of its own; says its memory on the way, and the outcome, by messages. */
import { runImport } from '../../../src/features/price-files/run.ts'
import { checkedBatches, openSupplier } from './support.ts'

const supplier = openSupplier(process.env.PLATFORM_API_URL ?? '', { uploadMs: 30_000 })
const catalogueId = await supplier.newCatalogue()
const memory = () => {
  globalThis.gc?.()
  return process.memoryUsage().rss
}
let early = 0
const { catalogueImports, source } = supplier
const { batches, remove } = await checkedBatches(process.env.FILE ?? '')
const outcome = await runImport({
  catalogueImports,
  source,
  catalogueId,
  batchId: 'b1',
  batches,
  onProgress: ({ sent }) => {
    if (early === 0 && sent >= 100_000) early = memory()
  },
})
process.send?.({ catalogueId, sent: outcome.sent, early, late: memory() })
remove()
await supplier.close()
process.disconnect?.()
