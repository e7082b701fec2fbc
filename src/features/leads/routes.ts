import { type Request, type RequestHandler, Router } from 'express'
import * as z from 'zod'
import { describeRoute } from '../../connect/express.ts'
import type { PageOf, Vault } from '../../connect/index.ts'
import { connectionRef } from '../../web/connections.ts'
import { rejectForm } from '../../web/errors.ts'
import { READ_ERRORS } from '../../web/openapi.ts'
import {
  choiceOf,
  type ListChoice,
  type ListFields,
  listQuery,
  pageOfSchema,
  pager,
  platformPage,
} from '../../web/paging.ts'
import { sendPageOrJson, sendResultOrRedirect } from '../../web/respond.ts'
import { type Lead, leadSchema, newLeadSchema } from './contract.ts'
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

function listHandler(options: LeadsOptions): RequestHandler<{ bxcontext: string }> {
  return async (req, res) => {
    const choice = choiceOf(req, FIELDS)
    const result = await listOf(options, req, choice)
    sendPageOrJson(req, res, { ...listPage(req, choice, result), json: result })
  }
}

function createHandler(options: LeadsOptions): RequestHandler<{ bxcontext: string }> {
  const { leads, vault } = options
  return async (req, res) => {
    const ref = connectionRef(req)
    try {
      const lead = await leads.create(vault.tokenSource(ref), leadBody.parse(req.body ?? {}))
      const location = `/connections/${encodeURIComponent(ref.bxcontext)}/leads/${encodeURIComponent(lead.id)}`
      await sendResultOrRedirect(req, res, location, lead, { status: 201, notice: texts.created })
    } catch (error) {
      await rejectForm(req, res, error, async () => {
        const choice = choiceOf(req, FIELDS)
        // Without the list, if that fails too.
        return listPage(req, choice, await listOf(options, req, choice).catch(() => null))
      })
    }
  }
}

type ListRequest = Request<{ bxcontext: string }>

const listOf = ({ leads, vault }: LeadsOptions, req: ListRequest, choice: ListChoice) =>
  leads.list(vault.tokenSource(connectionRef(req)), platformPage(choice, FIELDS))

const listPage = (req: ListRequest, choice: ListChoice, result: PageOf<Lead> | null) => ({
  view: 'leads/leads',
  title: texts.title,
  data: {
    bxcontext: req.params.bxcontext,
    leads: result?.items ?? null,
    pager: result && pager(result, choice),
    choice,
    fields: FIELDS,
    leadTexts: texts,
  },
})

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
