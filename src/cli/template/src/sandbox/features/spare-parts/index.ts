import { Router } from 'express'
import { notFound } from '../../../../../../sandbox/api.ts'
import { API_FAULTS } from '../../../../../../sandbox/faults.ts'
import type { SandboxCore, SandboxFeature } from '../../../../../../sandbox/feature.ts'
import { bxcontextOf } from '../../../../../../sandbox/guard.ts'
import { sendPage } from '../../../../../../sandbox/odata.ts'
import { DAY_MS, NEWEST, pick, seededRandom } from '../../../../../../sandbox/random.ts'
// template: write
import express from 'express'
import * as z from 'zod'
import { parseBody } from '../../../../../../sandbox/api.ts'

const newEntry = z.object({ name: z.string().min(1), notes: z.string().default('') })
// end of template

const SCOPE = 'spare_parts'

/** The platform's API for spare parts. */
export default {
  scopes: { [SCOPE]: 'See your spare parts and create new ones' },
  // template: write
  schema: `CREATE TABLE IF NOT EXISTS "created spare-parts" (
    id INTEGER PRIMARY KEY, bxcontext TEXT NOT NULL, entry TEXT NOT NULL
  ) STRICT;`,
  // end of template
  faults: { 'spare-parts': API_FAULTS },
  create: (core) => ({ api: entriesApi(core) }),
} satisfies SandboxFeature

function entriesApi(core: SandboxCore): Router {
  const list = (bxcontext: string): { id: string }[] => [
    // template: write
    // The created entries come first, with the latest at the top.
    ...core.sql
      .all('SELECT id, entry FROM "created spare-parts" WHERE bxcontext = ? ORDER BY id DESC', bxcontext)
      .map(({ id, entry }) => ({ id: `${bxcontext}-N${id}`, ...JSON.parse(String(entry)) })),
    // end of template
    ...samplesOf(bxcontext),
  ]
  const router = Router()
  router.use('/spare/parts', ...core.guard(SCOPE, 'spare-parts'))
  router.get('/spare/parts', (req, res) => sendPage(req, res, list(bxcontextOf(res))))
  router.get('/spare/parts/:id', (req, res) => {
    const entry = list(bxcontextOf(res)).find(({ id }) => id === req.params.id)
    return entry ? void res.json(entry) : notFound(res)
  })
  // template: write
  router.post('/spare/parts', express.json({ limit: '100kb' }), (req, res) => {
    const given = parseBody(res, newEntry, req.body, 'invalid_entry')
    if (!given) return
    const bxcontext = bxcontextOf(res)
    const entry = { ...given, status: 'New', createdAt: new Date().toISOString() }
    const insert = 'INSERT INTO "created spare-parts" (bxcontext, entry) VALUES (?, ?)'
    const { lastInsertRowid } = core.sql.run(insert, bxcontext, JSON.stringify(entry))
    res.status(201).json({ id: `${bxcontext}-N${lastInsertRowid}`, ...entry })
  })
  // end of template
  return router
}

/** Generates the sample spare parts of a business, the same ones each time. */
function samplesOf(bxcontext: string) {
  const random = seededRandom(`spare-parts ${bxcontext}`)
  return Array.from({ length: 30 + random(16) }, (_, index) => ({
    id: `${bxcontext}-${1000 + index}`,
    name: `Sample ${1000 + index}`,
    status: pick(['New', 'In progress', 'Done'], random),
    notes: pick(['Checked by phone.', 'Waiting for an answer.', ''], random),
    createdAt: new Date(NEWEST - index * DAY_MS - random(DAY_MS)).toISOString(),
  }))
}
