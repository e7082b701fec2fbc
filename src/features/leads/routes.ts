import { type RequestHandler, Router } from 'express'
import * as z from 'zod'
import { describeRoute } from '../../connect/express.ts'
import type { Vault } from '../../connect/index.ts'
import { connectionRef } from '../../web/connections.ts'
import { rejectForm } from '../../web/errors.ts'
import { READ_ERRORS } from '../../web/openapi.ts'
import { pageOf, pageOfSchema, pageQuery, pager } from '../../web/paging.ts'
import { sendPageOrJson, sendResultOrRedirect } from '../../web/respond.ts'
import { leadSchema, newLeadSchema } from './contract.ts'
import type { Leads } from './leads.ts'
import { texts } from './texts.ts'

/** A new lead from a form or JSON. An empty field counts as absent. */
const leadBody = z.preprocess(
  (fields) => Object.fromEntries(Object.entries(fields ?? {}).filter(([, value]) => value !== '')),
  newLeadSchema,
)

export interface LeadsOptions {
  leads: Leads
  vault: Vault
}

/** Routes that list, show and create leads. */
export function leadsRoutes(options: LeadsOptions): Router {
  return Router()
    .get(
      '/connections/:bxcontext/leads',
      describeRoute({
        summary: 'A page of leads.',
        query: pageQuery,
        response: pageOfSchema(leadSchema),
        errors: READ_ERRORS,
      }),
      listHandler(options),
    )
    .post(
      '/connections/:bxcontext/leads',
      describeRoute({
        summary:
          'Creates a lead. Fields: `name` (required), `email`, `phone`, `suburb`, `projectType`, `notes`. Answers `201` with the lead.',
        body: leadBody,
        status: 201,
        response: leadSchema,
        errors: [...READ_ERRORS, 'invalid_input', 'platform_rejected'],
      }),
      createHandler(options),
    )
    .get(
      '/connections/:bxcontext/leads/:id',
      describeRoute({ summary: 'Get a lead.', response: leadSchema, errors: [...READ_ERRORS, 'not_found'] }),
      showHandler(options),
    )
}

function listHandler({ leads, vault }: LeadsOptions): RequestHandler<{ bxcontext: string }> {
  return async (req, res) => {
    const ref = connectionRef(req)
    const page = pageOf(req)
    const { items, total } = await leads.list(vault.tokenSource(ref), page)
    sendPageOrJson(req, res, {
      view: 'leads/leads',
      title: texts.title,
      data: {
        bxcontext: ref.bxcontext,
        leads: items,
        pager: pager({ items, total }, page),
        leadTexts: texts,
      },
      json: { items, total },
    })
  }
}

function createHandler({ leads, vault }: LeadsOptions): RequestHandler<{ bxcontext: string }> {
  return async (req, res) => {
    const ref = connectionRef(req)
    try {
      const lead = await leads.create(vault.tokenSource(ref), leadBody.parse(req.body ?? {}))
      const location = `/connections/${encodeURIComponent(ref.bxcontext)}/leads/${encodeURIComponent(lead.id)}`
      await sendResultOrRedirect(req, res, location, lead, { status: 201, notice: texts.created })
    } catch (error) {
      await rejectForm(req, res, error, async () => ({
        view: 'leads/leads',
        title: texts.title,
        data: { bxcontext: ref.bxcontext, leads: null, pager: null, leadTexts: texts },
      }))
    }
  }
}

function showHandler({ leads, vault }: LeadsOptions): RequestHandler<{ bxcontext: string; id: string }> {
  return async (req, res) => {
    const ref = connectionRef(req)
    const lead = await leads.get(vault.tokenSource(ref), req.params.id)
    sendPageOrJson(req, res, {
      view: 'leads/lead',
      title: lead.name ?? lead.id,
      data: { bxcontext: ref.bxcontext, lead, leadTexts: texts },
      json: lead,
    })
  }
}
