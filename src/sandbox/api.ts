import express, { type Request, type RequestHandler, type Response, Router } from 'express'
import type Provider from 'oidc-provider'
import * as z from 'zod'
import type { Database } from './database.ts'
import { apiFaults, type Faults } from './faults.ts'
import type { Journal } from './journal.ts'
import { cataloguesOf, leadsOf } from './records.ts'

export interface ApiOptions {
  provider: Provider
  database: Database
  faults: Faults
  journal: Journal
}

const MAX_TOP = 100
const newLead = z.object({
  name: z.string().min(1),
  email: z.string().default(''),
  phone: z.string().default(''),
  suburb: z.string().default(''),
  projectType: z.string().default(''),
  notes: z.string().default(''),
})

/** The platform's API: leads and catalogues of the business that a token was granted for. */
export function apiRoutes({ provider, database, faults, journal }: ApiOptions): Router {
  const guard = (scope: 'leads' | 'catalogues'): RequestHandler[] => [
    (_req, res, next) => {
      res.on('close', () => journal.add(scope, res.writableFinished ? res.statusCode : 'no answer'))
      next()
    },
    apiFaults(faults, scope),
    async (req, res, next) => {
      const [, token = ''] = /^Bearer ([\w.~+/-]+=*)$/i.exec(req.get('authorization') ?? '') ?? []
      const found = token ? await provider.AccessToken.find(token) : undefined
      const consent = found?.grantId && database.consents.of(found.grantId)
      if (!found || !consent) {
        res.set('WWW-Authenticate', 'Bearer error="invalid_token"')
        return void res.status(401).json({ error: 'invalid_token' })
      }
      if (!found.scope?.split(' ').includes(scope)) {
        res.set('WWW-Authenticate', `Bearer error="insufficient_scope", scope="${scope}"`)
        return void res.status(403).json({ error: 'insufficient_scope' })
      }
      res.locals.context = consent.context
      next()
    },
  ]
  const contextOf = (res: Response): string => res.locals.context
  const allLeads = (context: string) => [...database.leads.list(context), ...leadsOf(context)]

  return Router()
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
    .use('/catalogues', ...guard('catalogues'))
    .get('/catalogues', (req, res) => sendPage(req, res, cataloguesOf(contextOf(res))))
    .get('/catalogues/:id', (req, res) => sendOne(res, cataloguesOf(contextOf(res)), req.params.id))
    .use((_req, res) => void res.status(404).json({ error: 'not_found' }))
}

function sendOne(res: Response, records: { id: string }[], id: string | undefined): void {
  const record = records.find((candidate) => candidate.id === id)
  if (record) res.json(record)
  else res.status(404).json({ error: 'not_found' })
}

/** A page by OData's `$top`, `$skip` and `$orderby`, with the total when `$count=true`. */
function sendPage(req: Request, res: Response, records: object[]): void {
  const { $top = String(MAX_TOP), $skip = '0', $orderby, $count } = req.query
  const [top, skip] = [whole($top), whole($skip)]
  if (top === undefined || skip === undefined) {
    return void res
      .status(400)
      .json({ error: 'invalid_query', message: '$top and $skip must be whole numbers' })
  }
  const sorted = order(records, $orderby)
  if (!sorted)
    return void res
      .status(400)
      .json({ error: 'invalid_query', message: '$orderby must be: field [asc|desc]' })
  if ($count === 'true') res.set('x-odata-total-count', String(records.length))
  res.json(sorted.slice(skip, skip + Math.min(top, MAX_TOP)))
}

function whole(value: unknown): number | undefined {
  return typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : undefined
}

function order(records: object[], orderBy: unknown): object[] | undefined {
  if (orderBy === undefined) return records
  const [, field = '', direction] = /^(\w+)(?: (asc|desc))?$/.exec(String(orderBy)) ?? []
  if (!records.every((record) => Object.hasOwn(record, field))) return undefined
  const key = (record: object) => (record as Record<string, string | number>)[field] ?? ''
  const sign = direction === 'desc' ? -1 : 1
  return records.toSorted((a, b) => sign * (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0))
}
