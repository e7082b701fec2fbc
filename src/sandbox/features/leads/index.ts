import express, { Router } from 'express'
import * as z from 'zod'
import { NOT_AN_OBJECT, notFound, parseBody } from '../../api.ts'
import type { Sql } from '../../database.ts'
import { API_FAULTS } from '../../faults.ts'
import type { SandboxCore, SandboxFeature } from '../../feature.ts'
import { bxcontextOf } from '../../guard.ts'
import { sendPage } from '../../odata.ts'
import { leadsOf, type SandboxLead } from './generated.ts'

/** Leads: list, read, create. */
export default {
  schema: `CREATE TABLE IF NOT EXISTS leads (
    id INTEGER PRIMARY KEY, bxcontext TEXT NOT NULL, lead TEXT NOT NULL
  ) STRICT;`,
  faults: { leads: API_FAULTS },
  create: (core) => ({ api: leadsApi(core) }),
} satisfies SandboxFeature

const optionalText = z.string('must be text').default('')
const newLead = z.object(
  {
    name: z.string('must be text').min(1, 'must not be empty'),
    email: optionalText,
    phone: optionalText,
    suburb: optionalText,
    projectType: optionalText,
    notes: optionalText,
  },
  NOT_AN_OBJECT,
)

function leadsApi({ sql, guard }: SandboxCore): Router {
  const { add, list } = createLeads(sql)
  return Router()
    .use('/leads', ...guard('leads'))
    .get('/leads', (req, res) => sendPage(req, res, list(bxcontextOf(res))))
    .get('/leads/:id', (req, res) => {
      const lead = list(bxcontextOf(res)).find(({ id }) => id === req.params.id)
      return lead ? void res.json(lead) : notFound(res)
    })
    .post('/leads', express.json({ limit: '100kb' }), (req, res) => {
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
    /** Created leads, the latest first, then the sample leads. */
    list: (bxcontext: string): SandboxLead[] => [
      ...sql
        .all('SELECT id, lead FROM leads WHERE bxcontext = ? ORDER BY id DESC', bxcontext)
        .map(({ id, lead }) => ({ id: `${bxcontext}-N${id}`, ...JSON.parse(String(lead)) })),
      ...leadsOf(bxcontext),
    ],
  }
}
