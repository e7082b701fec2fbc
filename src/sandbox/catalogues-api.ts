import express, { type RequestHandler, type Response, Router } from 'express'
import * as z from 'zod'
import type { BuilderData } from './builder-data.ts'
import type { CatalogueData } from './catalogue-data.ts'
import { contextOf } from './credentials.ts'
import type { Endpoint, Faults } from './faults.ts'
import { sendPage } from './odata.ts'
import type { SandboxItem } from './records.ts'

export interface CataloguesApiOptions {
  catalogues: CatalogueData
  builders: BuilderData
  faults: Faults
  guard(scope: 'catalogues', endpoint?: Endpoint): RequestHandler[]
}

/** Specification 8. */
const MAX_BATCH = 1000
const newCatalogue = z.object({ name: z.string().min(1).max(200), scope: z.enum(['Public', 'Managed']) })
const start = z.object({ batchId: z.string().min(1).max(200) })
const accessControl = z.object({
  externalRef: z.string().regex(/^[A-Za-z0-9]{1,255}$/),
  isPreApproved: z.boolean().default(false),
})

/** The catalogue operations of the API (specification 4.4). */
export function cataloguesApi({ catalogues, builders, faults, guard }: CataloguesApiOptions): Router {
  const json = express.json({ limit: '100kb' })
  const notFound = (res: Response) => void res.status(404).json({ error: 'not_found' })
  const isOwn = (res: Response, id: unknown) => catalogues.ownerOf(String(id)) === contextOf(res)
  const read = <T>(res: Response, schema: z.ZodType<T>, body: unknown): T | undefined => {
    const parsed = schema.safeParse(body)
    if (!parsed.success)
      res.status(400).json({ error: 'invalid_body', message: z.prettifyError(parsed.error) })
    return parsed.data
  }
  const decide =
    (state: 'accepted' | 'rejected'): RequestHandler =>
    (req, res) => {
      const id = String(req.query.integrationConnectionId ?? '')
      if (!builders.decide(contextOf(res), id, state)) return notFound(res)
      res.json({ integrationConnectionId: id, status: state })
    }

  const upload: RequestHandler = (req, res) => {
    const { id = '', batchId = '' } = req.params as Record<string, string>
    const items: unknown = req.body?.items
    if (!isOwn(res, id)) return notFound(res)
    if (!Array.isArray(items)) return void res.status(400).json({ error: 'items_missing' })
    if (items.length > MAX_BATCH) return void res.status(400).json({ error: 'batch_too_large' })
    const wrong = items.findIndex((item) => !isItem(item))
    if (wrong >= 0) return void res.status(400).json({ error: 'invalid_item', message: `items.${wrong}` })
    if (!catalogues.imports.add(id, batchId, items)) return notFound(res)
    res.status(202).json({ received: items.length })
  }

  return Router()
    .post(
      '/catalogues/:id/import/:batchId/items',
      ...guard('catalogues', 'items'),
      express.json({ limit: '10mb' }),
      upload,
    )
    .use('/catalogues', ...guard('catalogues'), json)
    .get('/catalogues/incomingIntegrationConnections', (_req, res) => {
      res.json(builders.pending(contextOf(res)).map(builders.describe))
    })
    .post('/catalogues/incomingIntegrationConnections/accept', decide('accepted'))
    .post('/catalogues/incomingIntegrationConnections/reject', decide('rejected'))
    .get('/catalogues', (req, res) => sendPage(req, res, catalogues.list(contextOf(res))))
    .post('/catalogues', (req, res) => {
      const body = read(res, newCatalogue, req.body)
      if (body) res.status(201).json(catalogues.create(contextOf(res), body.name, body.scope))
    })
    .get('/catalogues/:id', (req, res) => {
      const found = isOwn(res, req.params.id) && catalogues.find(req.params.id)
      if (!found) return notFound(res)
      const { context: _, ...catalogue } = found
      res.json(catalogue)
    })
    .post('/catalogues/:id/import/start', (req, res) => {
      if (!isOwn(res, req.params.id)) return notFound(res)
      const body = read(res, start, req.body)
      if (!body) return
      if (!catalogues.imports.start(req.params.id, body.batchId))
        return void res.status(409).json({ error: 'batch_id_in_use' })
      res.status(201).json({ batchId: body.batchId, status: 'Started' })
    })
    .get('/catalogues/:id/import/:batchId', (req, res) => {
      const { id, batchId } = req.params
      const fails = () => faults.strike('import') !== undefined
      const job = isOwn(res, id) && catalogues.imports.state(id, batchId, fails)
      return job ? void res.json(job) : notFound(res)
    })
    .post('/catalogues/:id/accesscontrols', (req, res) => {
      const { id } = req.params
      if (!isOwn(res, id)) return notFound(res)
      const body = read(res, accessControl, req.body)
      if (!body) return
      catalogues.access.grant(id, contextOf(res), body.externalRef, body.isPreApproved)
      res.status(201).json({ catalogueId: id, ...body })
    })
}

function isItem(item: unknown): item is SandboxItem {
  const { code, price } = (item ?? {}) as Record<string, unknown>
  return typeof code === 'string' && code !== '' && typeof price === 'number' && price >= 0
}
