import { Router } from 'express'
import type { Connect } from '../../../../../connect/index.ts'
import {
  connectionRef,
  type ListFields,
  listPages,
  sendPageOrJson,
} from '../../../../../web/kit.ts'
import { CALLS } from './contract.ts'
import { texts } from './texts.ts'
// template: write
import { rejectForm, sendResultOrRedirect } from '../../../../../web/kit.ts'
import { newEntrySchema } from './contract.ts'
// end of template

/** How the list can be narrowed and ordered. */
const FIELDS: ListFields = {
  search: 'name',
  filter: { field: 'status', label: texts.status, values: texts.statuses },
  orders: {
    newest: { orderBy: 'createdAt desc', label: texts.newestFirst },
    name: { orderBy: 'name asc', label: texts.byName },
  },
}
// template: write
// end of template

/** Routes of the spare parts of a connection. */
export function entriesRoutes({ api, vault }: Connect): Router {
  const router = Router()
  const pages = listPages({
    view: 'spare-parts/list',
    title: texts.title,
    fields: FIELDS,
    load: (ref, page) => api.list(vault.tokenSource(ref), CALLS.list, page),
    data: () => ({ entryTexts: texts }),
  })
  router.get('/', pages.send)
  // template: write
  router.post('/', async (req, res) => {
    const ref = connectionRef(req)
    const location = `/connections/${encodeURIComponent(ref.bxcontext)}/spare-parts`
    try {
      const given = newEntrySchema.parse(req.body ?? {})
      const entry = await api.post(vault.tokenSource(ref), CALLS.create, given)
      await sendResultOrRedirect(req, res, location, entry, { status: 201, notice: texts.created })
    } catch (error) {
      await rejectForm(req, res, error, () => pages.afterForm(req))
    }
  })
  // end of template
  router.get('/:id', async (req, res) => {
    const ref = connectionRef(req)
    const entry = await api.get(vault.tokenSource(ref), CALLS.entry(req.params.id))
    const data = { bxcontext: ref.bxcontext, entry, entryTexts: texts }
    sendPageOrJson(req, res, { view: 'spare-parts/entry', title: entry.name || entry.id, data, json: entry })
  })
  return router
}
