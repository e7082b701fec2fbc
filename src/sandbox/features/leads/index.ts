import { randomUUID } from 'node:crypto'
import express, { type Response, Router } from 'express'
import * as z from 'zod'
import { NOT_AN_OBJECT, notFound, parseBody } from '../../api.ts'
import type { Sql } from '../../database.ts'
import { API_FAULTS } from '../../faults.ts'
import type { SandboxCore, SandboxFeature } from '../../feature.ts'
import { bxcontextOf } from '../../guard.ts'
import { sendPage } from '../../odata.ts'
import { SCOPES } from '../../platform.ts'
import { leadsOf, type SandboxLead } from './generated.ts'

/** The leads API: lists, reads, creates and changes leads. */
export default {
  schema: `CREATE TABLE IF NOT EXISTS leads (
    number INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, bxcontext TEXT NOT NULL, lead TEXT NOT NULL
  ) STRICT;`,
  faults: { leads: API_FAULTS },
  create: (core) => ({ api: leadsApi(core) }),
} satisfies SandboxFeature

const text = z.string('must be text')
const optionalText = text.default('')
const nameText = text.min(1, 'must not be empty')
const newLead = z.object(
  {
    name: nameText,
    email: optionalText,
    phone: optionalText,
    suburb: optionalText,
    projectType: optionalText,
    notes: optionalText,
  },
  NOT_AN_OBJECT,
)
const changes = z
  .object(
    { name: nameText, email: text, phone: text, suburb: text, projectType: text, status: text, notes: text },
    NOT_AN_OBJECT,
  )
  .partial()

const JSON_BODY = express.json({ limit: '100kb' })

function leadsApi({ sql, guard }: SandboxCore): Router {
  const { put, list } = createLeads(sql)
  const find = (res: Response, id: string) => list(bxcontextOf(res)).find((lead) => lead.id === id)
  return Router()
    .use('/leads', ...guard(SCOPES.leads, 'leads'))
    .get('/leads', (req, res) => sendPage(req, res, list(bxcontextOf(res))))
    .get('/leads/:id', (req, res) => {
      const lead = find(res, req.params.id)
      return lead ? void res.json(lead) : notFound(res)
    })
    .patch('/leads/:id', JSON_BODY, (req, res) => {
      const lead = find(res, req.params.id)
      if (!lead) return notFound(res)
      const changed = parseBody(res, changes, req.body, 'invalid_lead')
      if (changed) res.json(put(bxcontextOf(res), Object.assign(lead, changed)))
    })
    .post('/leads', JSON_BODY, (req, res) => {
      const lead = parseBody(res, newLead, req.body, 'invalid_lead')
      if (!lead) return
      const created = { id: randomUUID(), ...lead, status: 'New', createdAt: new Date().toISOString() }
      res.status(201).json(put(bxcontextOf(res), created))
    })
}

/** The generated sample leads, and the stored leads that were created or changed. */
function createLeads(sql: Sql) {
  return {
    put(bxcontext: string, lead: SandboxLead): SandboxLead {
      const upsert = `INSERT INTO leads (id, bxcontext, lead) VALUES (?, ?, ?)
        ON CONFLICT (id) DO UPDATE SET lead = excluded.lead`
      sql.run(upsert, lead.id, bxcontext, JSON.stringify(lead))
      return lead
    },
    /** Lists the created leads, with the latest at the top, and then the sample leads. */
    list(bxcontext: string): SandboxLead[] {
      const rows = sql.all('SELECT lead FROM leads WHERE bxcontext = ? ORDER BY number DESC', bxcontext)
      const stored = rows.map(({ lead }): SandboxLead => JSON.parse(String(lead)))
      const samples = leadsOf(bxcontext)
      const created = stored.filter(({ id }) => !samples.some((sample) => sample.id === id))
      return [...created, ...samples.map((sample) => stored.find(({ id }) => id === sample.id) ?? sample)]
    },
  }
}
