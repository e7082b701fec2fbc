import express, { type RequestHandler, Router } from 'express'
import * as z from 'zod'
import { NOT_AN_OBJECT, notFound, parseBody, requiredText } from '../../../api.ts'
import { API_FAULTS } from '../../../faults.ts'
import type { SandboxCore, SandboxFeature } from '../../../feature.ts'
import { bxcontextOf } from '../../../guard.ts'
import { SCOPES } from '../../../platform.ts'
import { createCatalogues } from '../../catalogues/catalogues.ts'
import type { SandboxItem } from '../../catalogues/generated.ts'
import { addSamples, samplesSchema } from '../../catalogues/samples.ts'
import { SAMPLE_SUPPLIER } from '../businesses.ts'
import { createImports, type ImportTiming } from './imports.ts'

const optionsSchema = samplesSchema.extend({
  importTiming: z
    .object({ itemsPerSecond: z.number().positive(), settleMs: z.number() })
    .default({ itemsPerSecond: 200_000, settleMs: 100 }),
})

/** Imports of items into catalogues. */
export default {
  faults: { items: API_FAULTS, item: ['refused'], import: ['failed'] },
  demoOptions: () => ({
    importTiming: { itemsPerSecond: 20_000, settleMs: 2_000 },
    samples: { [SAMPLE_SUPPLIER]: { id: 'summit-price-list', name: 'Summit price list', items: [] } },
  }),
  create(core, given) {
    const options = optionsSchema.parse(given)
    return { api: importsApi(core, options.importTiming), reset: () => addSamples(core.sql, options) }
  },
} satisfies SandboxFeature

/** Specification 8. */
const MAX_BATCH = 1000
const startBody = z.object({ batchId: requiredText(200) }, NOT_AN_OBJECT)

/** The API's import operations (specification 4.4). */
function importsApi({ sql, guard, faults }: SandboxCore, timing: ImportTiming): Router {
  const { isOwn } = createCatalogues(sql)
  const imports = createImports(sql, timing)
  const upload: RequestHandler<{ id: string; batchId: string }> = (req, res) => {
    const { id, batchId } = req.params
    const items: unknown = req.body?.items
    if (!isOwn(bxcontextOf(res), id)) return notFound(res)
    if (!Array.isArray(items)) return void res.status(400).json({ error: 'items_missing' })
    if (items.length > MAX_BATCH) return void res.status(400).json({ error: 'batch_too_large' })
    const invalid = items.findIndex((item) => !isItem(item))
    if (invalid >= 0) return void res.status(400).json({ error: 'invalid_item', message: `items.${invalid}` })
    if (faults.strike('item')) {
      // Repeats the request in its response, as a careless gateway does.
      const sent = { authorization: req.get('authorization') }
      const message = `items.0: the unit of ${items[0]?.code} is unknown. ${sent.authorization}`
      return void res.status(400).json({ error: 'invalid_item', message, sent })
    }
    const result = imports.add(id, batchId, items)
    if (result === 'unknown') return notFound(res)
    if (result === 'ended') return void res.status(409).json({ error: 'import_ended' })
    res.status(202).json({ received: items.length })
  }
  return Router()
    .post(
      '/catalogues/:id/import/:batchId/items',
      ...guard(SCOPES.catalogues, 'items'),
      express.json({ limit: '10mb' }),
      upload,
    )
    .post(
      '/catalogues/:id/import/start',
      ...guard(SCOPES.catalogues, 'catalogues'),
      express.json({ limit: '100kb' }),
      (req, res) => {
        const id = String(req.params.id)
        if (!isOwn(bxcontextOf(res), id)) return notFound(res)
        const body = parseBody(res, startBody, req.body)
        if (!body) return
        const { batchId } = body
        if (!imports.start(id, batchId)) return void res.status(409).json({ error: 'batch_id_in_use' })
        res.status(201).json({ batchId, status: 'Started' })
      },
    )
    .get('/catalogues/:id/import/:batchId', ...guard(SCOPES.catalogues, 'catalogues'), (req, res) => {
      const [id, batchId] = [String(req.params.id), String(req.params.batchId)]
      const fails = () => faults.strike('import') !== undefined
      const state = isOwn(bxcontextOf(res), id) && imports.state(id, batchId, fails)
      return state ? void res.json(state) : notFound(res)
    })
}

function isItem(item: unknown): item is SandboxItem {
  const { code, price } = (item ?? {}) as Record<string, unknown>
  return typeof code === 'string' && code !== '' && typeof price === 'number' && price >= 0
}
