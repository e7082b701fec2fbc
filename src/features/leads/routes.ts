import { type RequestHandler, Router } from 'express'
import * as z from 'zod'
import { describeRoute } from '../../connect/express.ts'
import type { Vault } from '../../connect/index.ts'
import { connectionRef } from '../../web/connections.ts'
import { rejectForm } from '../../web/errors.ts'
import { listPages } from '../../web/list-pages.ts'
import { READ_ERRORS } from '../../web/openapi.ts'
import { type ListFields, listQuery, pageOfSchema } from '../../web/paging.ts'
import { sendPageOrJson, sendResultOrRedirect } from '../../web/respond.ts'
import { leadSchema, newLeadSchema } from './contract.ts'
import type { Leads } from './leads.ts'
import { texts } from './texts.ts'

/** How the list can be narrowed and ordered. */
const FIELDS: ListFields = {
  search: 'name',
  filter: { field: 'status', label: texts.status, values: texts.statuses },
  orders: {
    newest: { orderBy: 'createdAt desc', label: texts.newestFirst },
    name: { orderBy: 'name asc', label: texts.byName },
  },
}

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
        summary: 'A page of leads: those whose name has the text `search` and whose status is `filter`.',
        query: listQuery(FIELDS),
        response: pageOfSchema(leadSchema),
        errors: READ_ERRORS,
      }),
      leadPages(options).send,
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

const leadPages = ({ leads, vault }: LeadsOptions) =>
  listPages({
    view: 'leads/leads',
    title: texts.title,
    fields: FIELDS,
    load: (ref, page) => leads.list(vault.tokenSource(ref), page),
    data: () => ({ leadTexts: texts }),
  })

function createHandler(options: LeadsOptions): RequestHandler<{ bxcontext: string }> {
  const { leads, vault } = options
  const { afterForm } = leadPages(options)
  return async (req, res) => {
    const ref = connectionRef(req)
    try {
      const lead = await leads.create(vault.tokenSource(ref), leadBody.parse(req.body ?? {}))
      const location = `/connections/${encodeURIComponent(ref.bxcontext)}/leads/${encodeURIComponent(lead.id)}`
      await sendResultOrRedirect(req, res, location, lead, { status: 201, notice: texts.created })
    } catch (error) {
      await rejectForm(req, res, error, () => afterForm(req))
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
