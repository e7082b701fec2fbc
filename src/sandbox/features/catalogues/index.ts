import { Router } from 'express'
import * as z from 'zod'
import type { Sql } from '../../database.ts'
import { API_FAULTS } from '../../faults.ts'
import type { SandboxFeature } from '../../feature.ts'
import { cataloguesApi } from './api.ts'
import { createBuilderConnections } from './builder-connections.ts'
import { createCatalogues } from './catalogues.ts'
import { createItems } from './items.ts'
import { SCHEMA } from './schema.ts'
import { suppliersRoutes } from './suppliers.ts'

/** Catalogues that are published, and builders that are connected, from the start. */
export const samplesSchema = z.object({
  /** By the supplier's bxcontext. */
  samples: z
    .record(
      z.string(),
      z.object({
        id: z.string(),
        name: z.string(),
        items: z.array(z.looseObject({ code: z.string(), price: z.number() })),
      }),
    )
    .default({}),
  connected: z
    .array(z.object({ builder: z.string(), supplier: z.string(), externalRef: z.string() }))
    .default([]),
})

/** Adds what is not there yet. */
export function addSamples(sql: Sql, { samples, connected }: z.output<typeof samplesSchema>): void {
  const { publish } = createCatalogues(sql)
  const { connect } = createBuilderConnections(sql)
  for (const [bxcontext, sample] of Object.entries(samples)) publish(bxcontext, sample)
  for (const { builder, supplier, externalRef } of connected) connect(builder, supplier, externalRef)
}

/** A supplier's catalogues and access controls, and the catalogues that builders see. */
export const catalogues: SandboxFeature = {
  name: 'catalogues',
  schema: SCHEMA,
  faults: { catalogues: API_FAULTS },
  create(core, options) {
    const { sql } = core
    addSamples(sql, samplesSchema.parse(options))
    const items = createItems(sql)
    return {
      api: cataloguesApi(core),
      routes: Router()
        .use(suppliersRoutes(core))
        .get('/sandbox/catalogues/:id/items', (req, res) => {
          const { after = '', top = '1000' } = req.query
          res.json({ items: items.list(req.params.id, String(after), Number(top) || 1000) })
        }),
      links: [{ href: '/suppliers', label: 'Suppliers' }],
    }
  },
}
