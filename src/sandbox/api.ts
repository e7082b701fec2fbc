import express, { type RequestHandler, type Response, Router } from 'express'
import * as z from 'zod'
import { type CataloguesApiOptions, cataloguesApi } from './catalogues-api.ts'
import { contextOf } from './credentials.ts'
import type { Database } from './database.ts'
import type { Endpoint } from './faults.ts'
import { type FirstPartyOptions, firstPartyRoutes } from './first-party.ts'
import { sendPage } from './odata.ts'
import { leadsOf } from './records.ts'

export interface ApiOptions extends Omit<CataloguesApiOptions, 'guard'>, FirstPartyOptions {
  database: Database
  guard(scope: 'leads' | 'catalogues', endpoint?: Endpoint): RequestHandler[]
}

const newLead = z.object({
  name: z.string().min(1),
  email: z.string().default(''),
  phone: z.string().default(''),
  suburb: z.string().default(''),
  projectType: z.string().default(''),
  notes: z.string().default(''),
})

/** The platform's API: accounts, leads and catalogues of the business that a token acts for. */
export function apiRoutes({ database, guard, ...options }: ApiOptions): Router {
  const allLeads = (context: string) => [...database.leads.list(context), ...leadsOf(context)]

  return Router()
    .use(firstPartyRoutes(options))
    .use(cataloguesApi({ ...options, guard }))
    .use('/leads', ...guard('leads'))
    .get('/leads', (req, res) => sendPage(req, res, allLeads(contextOf(res))))
    .get('/leads/:id', (req, res) => sendOne(res, allLeads(contextOf(res)), req.params.id))
    .post('/leads', express.json({ limit: '100kb' }), (req, res) => {
      const lead = newLead.safeParse(req.body)
      if (!lead.success)
        return void res.status(400).json({ error: 'invalid_lead', message: z.prettifyError(lead.error) })
      const stored = { ...lead.data, status: 'New', createdAt: new Date().toISOString() }
      res.status(201).json(database.leads.add(contextOf(res), stored))
    })
    .use((_req, res) => void res.status(404).json({ error: 'not_found' }))
}

function sendOne(res: Response, records: { id: string }[], id: string | undefined): void {
  const record = records.find((candidate) => candidate.id === id)
  if (record) res.json(record)
  else res.status(404).json({ error: 'not_found' })
}
