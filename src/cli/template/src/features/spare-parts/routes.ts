import { Router } from 'express'
import { describeRoute } from '../../../../../connect/express.ts'
import type { Connect } from '../../../../../connect/index.ts'
import {
  connectionRef,
  type ListFields,
  listPages,
  listQuery,
  pageOfSchema,
  READ_ERRORS,
  sendPageOrJson,
} from '../../../../../web/kit.ts'
import { CALLS, entrySchema } from './contract.ts'
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
const listRoute = describeRoute({
  summary: 'A page of spare parts: those whose name has the text `search` and whose status is `filter`, in the `order` `newest` or `name`.',
  query: listQuery(FIELDS),
  response: pageOfSchema(entrySchema),
  errors: READ_ERRORS,
})
const entryRoute = describeRoute({
  summary: 'An entry of the list.',
  response: entrySchema,
  errors: [...READ_ERRORS, 'not_found'],
})
// template: write
const createRoute = describeRoute({
  summary: 'Creates an entry. Fields: `name` (required), `notes`. Answers `201` with what was created.',
  body: newEntrySchema,
  status: 201,
  response: entrySchema,
  errors: [...READ_ERRORS, 'invalid_input', 'platform_rejected'],
})
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
  router.get('/', listRoute, pages.send)
  // template: write
  router.post('/', createRoute, async (req, res) => {
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
  router.get('/:id', entryRoute, async (req, res) => {
    const ref = connectionRef(req)
    const entry = await api.get(vault.tokenSource(ref), CALLS.entry(req.params.id))
    const data = { bxcontext: ref.bxcontext, entry, entryTexts: texts }
    sendPageOrJson(req, res, { view: 'spare-parts/entry', title: entry.name || entry.id, data, json: entry })
  })
  return router
}
