import { Router } from 'express'
import * as z from 'zod'
import type { Connect } from '../../connect/index.ts'
import {
  connectionRef,
  type ListFields,
  listPages,
  rejectForm,
  sendPageOrJson,
  sendResultOrRedirect,
} from '../../web/feature-api.ts'
import { CALLS, newLeadSchema } from './contract.ts'
import { texts } from './texts.ts'

/** The filters and orders of the list. */
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

/** Routes that list, show and create the leads of a connection. */
export function leadsRoutes({ api, vault }: Connect): Router {
  const router = Router()
  const pages = listPages({
    view: 'leads/leads',
    title: texts.title,
    fields: FIELDS,
    load: (ref, page) => api.list(vault.tokenSource(ref), CALLS.list, page),
    data: () => ({ leadTexts: texts }),
  })
  router.get('/', pages.send)
  router.post('/', async (req, res) => {
    const ref = connectionRef(req)
    try {
      const lead = await api.post(vault.tokenSource(ref), CALLS.create, leadBody.parse(req.body ?? {}))
      const location = `/connections/${encodeURIComponent(ref.bxcontext)}/leads/${encodeURIComponent(lead.id)}`
      await sendResultOrRedirect(req, res, location, lead, { status: 201, notice: texts.created })
    } catch (error) {
      await rejectForm(req, res, error, () => pages.afterForm(req))
    }
  })
  router.get('/:id', async (req, res) => {
    const ref = connectionRef(req)
    const lead = await api.get(vault.tokenSource(ref), CALLS.lead(req.params.id))
    const data = { bxcontext: ref.bxcontext, lead, leadTexts: texts }
    sendPageOrJson(req, res, { view: 'leads/lead', title: lead.name ?? lead.id, data, json: lead })
  })
  return router
}
