import { Router } from 'express'
import { API_FAULTS } from '../../faults.ts'
import type { SandboxFeature } from '../../feature.ts'
import { cataloguesApi } from './api.ts'
import { createItems } from './items.ts'
import { addSamples, samplesSchema } from './samples.ts'
import { SCHEMA } from './schema.ts'

/** A supplier's catalogues and access controls. */
export default {
  schema: SCHEMA,
  faults: { catalogues: API_FAULTS },
  create(core, options) {
    const { sql } = core
    const samples = samplesSchema.parse(options)
    const items = createItems(sql)
    return {
      reset: () => addSamples(sql, samples),
      api: cataloguesApi(core),
      routes: Router().get('/sandbox/catalogues/:id/items', (req, res) => {
        const { after = '', top = '1000' } = req.query
        res.json({ items: items.search(req.params.id, { after: String(after), top: Number(top) || 1000 }) })
      }),
    }
  },
} satisfies SandboxFeature
