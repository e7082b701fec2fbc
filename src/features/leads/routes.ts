import { Router } from 'express'
import { newLeadSchema } from '../../connect/platform/contract.ts'
import type { Vault } from '../../connect/vault/vault.ts'
import { rejectForm } from '../../web/errors.ts'
import { pageOf, pager } from '../../web/paging.ts'
import { done, respond } from '../../web/respond.ts'
import { requireUser } from '../../web/sign-in.ts'
import type { Leads } from './leads.ts'

/** The leads of a connected account: list, one, create. */
export function leadsRoutes({ leads, vault }: { leads: Leads; vault: Vault }): Router {
  return Router()
    .get('/connections/:context/leads', async (req, res) => {
      const { context } = req.params
      const source = vault.tokenSource(requireUser(req), context)
      const page = pageOf(req)
      const { items, total } = await leads.list(source, page)
      respond(req, res, {
        view: 'leads',
        title: 'Leads',
        data: { context, leads: items, pager: pager({ items, total }, page) },
        json: { items, total },
      })
    })
    .post('/connections/:context/leads', async (req, res) => {
      const { context } = req.params
      const source = vault.tokenSource(requireUser(req), context)
      try {
        // An empty form field means "not given".
        const given = Object.entries(req.body ?? {}).filter(([, value]) => value !== '')
        const lead = await leads.create(source, newLeadSchema.parse(Object.fromEntries(given)))
        const to = `/connections/${encodeURIComponent(context)}/leads/${encodeURIComponent(lead.id)}`
        await done(req, res, to, lead, { status: 201, notice: 'The lead was created.' })
      } catch (error) {
        const page = async () => ({
          view: 'leads',
          title: 'Leads',
          data: { context, leads: null, pager: null },
        })
        await rejectForm(req, res, error, page)
      }
    })
    .get('/connections/:context/leads/:id', async (req, res) => {
      const { context, id } = req.params
      const lead = await leads.get(vault.tokenSource(requireUser(req), context), id)
      respond(req, res, {
        view: 'lead',
        title: lead.name ?? String(lead.id),
        data: { context, lead },
        json: lead,
      })
    })
}
