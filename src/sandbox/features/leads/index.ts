import express, { type Response, Router } from 'express'
import * as z from 'zod'
import { NOT_AN_OBJECT, notFound, parseBody } from '../../api.ts'
import type { Sql } from '../../database.ts'
import { API_FAULTS } from '../../faults.ts'
import type { SandboxCore, SandboxFeature } from '../../feature.ts'
import { bxcontextOf } from '../../guard.ts'
import { sendPage } from '../../odata.ts'
import { leadsOf, type SandboxLead } from './generated.ts'

/** The leads API: lists, reads, creates and changes leads. */
export default {
  schema: `CREATE TABLE IF NOT EXISTS leads (
    id INTEGER PRIMARY KEY, bxcontext TEXT NOT NULL, lead TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS lead_changes (id TEXT PRIMARY KEY, changes TEXT NOT NULL) STRICT;`,
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
  const { add, change, list } = createLeads(sql)
  const find = (res: Response, id: string) => list(bxcontextOf(res)).find((lead) => lead.id === id)
  return Router()
    .use('/leads', ...guard('leads'))
    .get('/leads', (req, res) => sendPage(req, res, list(bxcontextOf(res))))
    .get('/leads/:id', (req, res) => {
      const lead = find(res, req.params.id)
      return lead ? void res.json(lead) : notFound(res)
    })
    .patch('/leads/:id', JSON_BODY, (req, res) => {
      const { id } = req.params
      if (!find(res, id)) return notFound(res)
      const changed = parseBody(res, changes, req.body, 'invalid_lead')
      if (!changed) return
      change(id, changed)
      res.json(find(res, id))
    })
    .post('/leads', JSON_BODY, (req, res) => {
      const lead = parseBody(res, newLead, req.body, 'invalid_lead')
      if (!lead) return
      res
        .status(201)
        .json(add(bxcontextOf(res), { ...lead, status: 'New', createdAt: new Date().toISOString() }))
    })
}

function createLeads(sql: Sql) {
  return {
    add(bxcontext: string, lead: Omit<SandboxLead, 'id'>): SandboxLead {
      const insert = 'INSERT INTO leads (bxcontext, lead) VALUES (?, ?)'
      const { lastInsertRowid } = sql.run(insert, bxcontext, JSON.stringify(lead))
      return { id: `${bxcontext}-N${lastInsertRowid}`, ...lead }
    },
    change(id: string, changed: object): void {
      const upsert = `INSERT INTO lead_changes VALUES (?, ?)
        ON CONFLICT DO UPDATE SET changes = json_patch(changes, excluded.changes)`
      sql.run(upsert, id, JSON.stringify(changed))
    },
    /** Lists the created leads, with the latest at the top, and then the sample leads, each with its changes. */
    list(bxcontext: string): SandboxLead[] {
      const created = sql
        .all('SELECT id, lead FROM leads WHERE bxcontext = ? ORDER BY id DESC', bxcontext)
        .map(({ id, lead }) => ({ id: `${bxcontext}-N${id}`, ...JSON.parse(String(lead)) }))
      const changesOf = new Map(
        sql.all('SELECT id, changes FROM lead_changes').map(({ id, changes }) => [id, String(changes)]),
      )
      return [...created, ...leadsOf(bxcontext)].map((lead) => ({
        ...lead,
        ...JSON.parse(changesOf.get(lead.id) ?? '{}'),
      }))
    },
  }
}
