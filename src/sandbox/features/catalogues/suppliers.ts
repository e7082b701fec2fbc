import { type Request, type Response, Router } from 'express'
import { type Business, connectableBusiness, nameOf, SUPPLIERS } from '../../accounts.ts'
import type { Sql } from '../../database.ts'
import type { SandboxCore } from '../../feature.ts'
import { loginUrl } from '../../login.ts'
import { page, problem } from '../../pages.ts'
import type { Place } from '../../sections.ts'
import { type BuilderConnection, createBuilderConnections } from './builder-connections.ts'
import type { SandboxCatalogue } from './generated.ts'
import { createItems } from './items.ts'

/** On the page of suppliers: about a supplier that the builder is not connected to. */
export const UNCONNECTED_SUPPLIER: Place<{
  builder: Business
  supplier: string
  connection: BuilderConnection | undefined
}> = { name: 'unconnected supplier' }

/** On a catalogue's page: buttons of a form that sends the picked items as `item`. Without any, nothing can be picked. */
export const PICKED_ITEMS: Place<{ supplier: string; catalogue: SandboxCatalogue; path: string }> = {
  name: 'picked items',
}

const ITEMS_PER_PAGE = 50

/** The builder and the supplier that an address names; undefined when this answers, with a problem or the login page. */
export function partiesOf(req: Request, res: Response): { builder: Business; supplier: string } | undefined {
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

/** The catalogue that an address names, if the builder may see it; undefined when this answers. */
export function visibleCatalogue(sql: Sql, req: Request, res: Response) {
  const parties = partiesOf(req, res)
  if (!parties) return undefined
  const visible = createBuilderConnections(sql).visible(parties.builder.bxcontext, parties.supplier)
  const catalogue = visible.find(({ id }) => id === req.params.catalogue)
  if (catalogue) return { ...parties, catalogue }
  problem(res, 404, 'This catalogue is not visible to you.', req.account)
  return undefined
}

/** The items that a builder has picked, by code, each once. */
export const pickedCodes = ({ query }: Request): string[] => [
  ...new Set([query.item ?? []].flat().map((code) => String(code).slice(0, 200))),
]

/** The path of the page of the catalogue that an address names. */
export function cataloguePath({ params }: Request): string {
  const { builder, supplier, catalogue } = params
  return `/suppliers/${[builder, supplier, catalogue].map((part) => encodeURIComponent(String(part))).join('/')}`
}

/** What a builder sees: suppliers, their catalogues, and the items. */
export function suppliersRoutes({ sql, sectionsAt }: SandboxCore): Router {
  const connections = createBuilderConnections(sql)
  const items = createItems(sql)
  const supplierFor = (builder: Business, supplier: string) => {
    const connection = connections.between(builder.bxcontext, supplier)
    return {
      name: nameOf(supplier),
      path: `/suppliers/${builder.bxcontext}/${supplier}`,
      connection,
      visible: connections.visible(builder.bxcontext, supplier),
      sections:
        connection?.state === 'accepted'
          ? []
          : sectionsAt(UNCONNECTED_SUPPLIER, { builder, supplier, connection }),
    }
  }

  return Router()
    .get('/suppliers', (req, res) => {
      const account = req.account
      if (!account) return res.redirect(303, loginUrl(req.originalUrl))
      const businesses = account.businesses.map((business) => ({
        ...business,
        suppliers: SUPPLIERS.filter((supplier) => supplier !== business.bxcontext).map((supplier) =>
          supplierFor(business, supplier),
        ),
      }))
      return page(res, 'catalogues/suppliers', { title: 'Suppliers', account, businesses })
    })
    .get('/suppliers/:builder/:supplier/:catalogue', (req, res) => {
      const found = visibleCatalogue(sql, req, res)
      if (!found) return
      const { catalogue, supplier } = found
      const after = String(req.query.after ?? '')
      const search = String(req.query.q ?? '')
        .trim()
        .slice(0, 100)
      const matches = items.search(catalogue.id, { search, after, top: ITEMS_PER_PAGE + 1 })
      const path = cataloguePath(req)
      page(res, 'catalogues/items', {
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
