import { type Request, type Response, Router } from 'express'
import { type Business, connectableBusiness } from '../../../accounts.ts'
import type { Sql } from '../../../database.ts'
import type { SandboxCore } from '../../../feature.ts'
import { loginUrl } from '../../../login.ts'
import { leaveNotice, page, problem } from '../../../pages.ts'
import type { Place } from '../../../sections.ts'
import type { SandboxCatalogue } from '../../catalogues/generated.ts'
import { createItems } from '../../catalogues/items.ts'
import { nameOf, SAMPLE_SUPPLIER, SUPPLIERS } from '../businesses.ts'
import { createConnections, describeRequest } from './connections.ts'
import type { Webhooks } from './webhooks.ts'

/** The account numbers in the sample price list of the sample supplier's live pricing. */
export const SAMPLE_MEMBERS = ['CUST1001', 'CUST1002', 'CUST1003', 'CUST2001']

/** Buttons on a catalogue's page, in a form that sends the picked items as `item`. Without buttons, no items can be picked. */
export const PICKED_ITEMS: Place<{ supplier: string; catalogue: SandboxCatalogue; path: string }> = {
  name: 'picked items',
}

const ITEMS_PER_PAGE = 50

/** Returns the builder and the supplier in an address. Otherwise responds with a problem or the login, and returns undefined. */
function partiesOf(req: Request, res: Response): { builder: Business; supplier: string } | undefined {
  if (!req.account && req.method === 'GET') {
    res.redirect(303, loginUrl(req.originalUrl))
    return undefined
  }
  const builder = req.account && connectableBusiness(req.account, req.params.builder)
  const supplier = SUPPLIERS.find((bxcontext) => bxcontext === req.params.supplier)
  if (builder && supplier) return { builder, supplier }
  problem(res, 404, 'There is no such business in this account, or no such supplier.', req.account)
  return undefined
}

/** Returns the catalogue in an address, with its path, if the builder may see it. Otherwise responds, and returns undefined. */
export function visibleCatalogue(sql: Sql, req: Request, res: Response) {
  const parties = partiesOf(req, res)
  if (!parties) return undefined
  const { builder, supplier } = parties
  const visible = createConnections(sql).visible(builder.bxcontext, supplier)
  const catalogue = visible.find(({ id }) => id === req.params.catalogue)
  const path = `/suppliers/${builder.bxcontext}/${supplier}/${encodeURIComponent(catalogue?.id ?? '')}`
  if (catalogue) return { ...parties, catalogue, path }
  problem(res, 404, 'This catalogue is not visible to you.', req.account)
  return undefined
}

/** The items that a builder has picked, by code, each once. */
export const pickedCodes = ({ query }: Request): string[] => [
  ...new Set([query.item ?? []].flat().map((code) => String(code).slice(0, 200))),
]

/** The pages for a builder: suppliers, their catalogues and items, and the form to ask for a connection. */
export function suppliersRoutes({ sql, sectionsAt }: SandboxCore, webhooks: Webhooks): Router {
  const connections = createConnections(sql)
  const items = createItems(sql)
  const supplierFor = (builder: string, supplier: string) => ({
    name: nameOf(supplier),
    path: `/suppliers/${builder}/${supplier}`,
    fieldId: `ref-${builder}-${supplier}`,
    suggestions: supplier === SAMPLE_SUPPLIER ? SAMPLE_MEMBERS : [],
    connection: connections.between(builder, supplier),
    visible: connections.visible(builder, supplier),
  })

  return Router()
    .get('/suppliers', (req, res) => {
      const { account } = req
      if (!account) return res.redirect(303, loginUrl(req.originalUrl))
      const businesses = account.businesses.map(({ name, bxcontext }) => {
        const others = SUPPLIERS.filter((supplier) => supplier !== bxcontext)
        return { name, suppliers: others.map((supplier) => supplierFor(bxcontext, supplier)) }
      })
      return page(res, 'supplier/builder-requests/suppliers', { title: 'Suppliers', account, businesses })
    })
    .post('/suppliers/:builder/:supplier/ask', (req, res) => {
      const parties = partiesOf(req, res)
      if (!parties) return
      const { builder, supplier } = parties
      const externalRef = String(req.body?.externalRef ?? '').trim()
      if (!/^[A-Za-z0-9]{1,255}$/.test(externalRef))
        return problem(res, 400, 'The account number must be 1 to 255 letters and digits.', req.account)
      const request = connections.ask(builder.bxcontext, supplier, externalRef)
      if (request) webhooks.emit(supplier, 'integration-connection.requested', describeRequest(request))
      leaveNotice(
        res,
        'The request was sent. It is accepted at once if the supplier has approved this account number in advance. Otherwise, the supplier sees it in the app under Builder requests.',
      )
      res.redirect(303, '/suppliers')
    })
    .get('/suppliers/:builder/:supplier/:catalogue', (req, res) => {
      const found = visibleCatalogue(sql, req, res)
      if (!found) return
      const { catalogue, supplier, path } = found
      const after = String(req.query.after ?? '')
      const search = String(req.query.q ?? '').trim()
      const matches = items.search(catalogue.id, { search, after, top: ITEMS_PER_PAGE + 1 })
      page(res, 'supplier/builder-requests/items', {
        title: catalogue.name,
        account: req.account,
        catalogue,
        search,
        picked: pickedCodes(req),
        path,
        items: matches.slice(0, ITEMS_PER_PAGE),
        next: matches.length > ITEMS_PER_PAGE ? matches[ITEMS_PER_PAGE - 1]?.code : undefined,
        sections: sectionsAt(PICKED_ITEMS, { supplier, catalogue, path }),
      })
    })
}
