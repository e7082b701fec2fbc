import express, { type Request, Router } from 'express'
import * as z from 'zod'
import type { CatalogueData } from './catalogue-data.ts'
import type { Database } from './database.ts'
import { FAULTS, type Faults, faultSchema } from './faults.ts'
import type { FirstPartyTokens } from './first-party.ts'
import type { Journal } from './journal.ts'
import { page, problem } from './pages.ts'

export interface ControlOptions {
  faults: Faults
  journal: Journal
  database: Database
  firstParty: FirstPartyTokens
  catalogues: CatalogueData
}

/** The control page and its JSON: make the next calls fail, expire or revoke at once, see what was called. */
export function controlRoutes(options: ControlOptions): Router {
  const { faults, journal, database, firstParty, catalogues } = options
  const state = () => ({ faults: faults.list(), calls: journal.list() })
  const json = (req: Request) => Boolean(req.is('json')) || req.accepts(['html', 'json']) === 'json'

  return Router()
    .use('/sandbox', express.json({ limit: '10kb' }))
    .get(['/sandbox', '/sandbox/faults'], (req, res) => {
      if (json(req)) return void res.json(state())
      page(res, 'control', { title: 'Faults', account: req.account, possible: FAULTS, ...state() })
    })
    .post('/sandbox/faults', (req, res) => {
      const wanted = faultSchema.safeParse(req.body)
      if (!wanted.success) {
        const message = z.prettifyError(wanted.error)
        return json(req)
          ? void res.status(400).json({ error: 'invalid_fault', message })
          : problem(res, 400, message)
      }
      faults.set(wanted.data)
      return json(req) ? void res.json(state()) : res.redirect(303, '/sandbox/faults')
    })
    .delete('/sandbox/faults', (_req, res) => {
      faults.clear()
      res.json(state())
    })
    .post('/sandbox/faults/clear', (req, res) => {
      faults.clear()
      return json(req) ? void res.json(state()) : res.redirect(303, '/sandbox/faults')
    })
    .post('/sandbox/expire', (req, res) => {
      const expired = database.expireAccessTokens()
      return json(req) ? void res.json({ expired }) : res.redirect(303, '/sandbox/faults')
    })
    .post('/sandbox/expire-refresh-tokens', (req, res) => {
      const expired = firstParty.endRefreshTokens()
      return json(req) ? void res.json({ expired }) : res.redirect(303, '/sandbox/faults')
    })
    .get('/sandbox/catalogues/:id/items', (req, res) => {
      const { after = '', top = '1000' } = req.query
      res.json({ items: catalogues.items(req.params.id, String(after), Number(top) || 1000) })
    })
    .post('/sandbox/revoke', (req, res) => {
      const consents = database.consents.list()
      for (const { grantId } of consents) database.consents.remove(grantId)
      return json(req) ? void res.json({ revoked: consents.length }) : res.redirect(303, '/sandbox/faults')
    })
}
