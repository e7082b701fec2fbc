import { type Request, type Response, Router } from 'express'
import { businessNamed, businessOf, SUPPLIERS } from './accounts.ts'
import type { BuilderData } from './builder-data.ts'
import type { CatalogueData } from './catalogue-data.ts'
import { loginUrl } from './login.ts'
import { page, problem } from './pages.ts'
import type { Webhooks } from './webhooks.ts'

export interface SuppliersOptions {
  builders: BuilderData
  catalogues: CatalogueData
  webhooks: Webhooks
}

const SHOWN_ITEMS = 50

/** The builder's side: ask a supplier to connect, and see what it lets one see. */
export function suppliersRoutes({ builders, catalogues, webhooks }: SuppliersOptions): Router {
  /** The builder and the supplier that a form or an address names. */
  function parties(req: Request, res: Response) {
    const builder = req.account && businessOf(req.account, req.params.builder)
    const supplier = SUPPLIERS.includes(String(req.params.supplier)) && String(req.params.supplier)
    if (builder && supplier) return { builder, supplier }
    problem(res, 404, 'There is no such business in this account, or no such supplier.', req.account)
    return undefined
  }

  return Router()
    .get('/suppliers', (req, res) => {
      const account = req.account
      if (!account) return res.redirect(303, loginUrl(req))
      const businesses = account.businesses.map((business) => ({
        ...business,
        suppliers: SUPPLIERS.filter((supplier) => supplier !== business.context).map((supplier) => ({
          ...{ context: supplier, name: businessNamed(supplier)?.business.name ?? supplier },
          connection: builders.between(business.context, supplier),
          visible: builders.visible(business.context, supplier),
        })),
      }))
      return page(res, 'suppliers', { title: 'Suppliers', account, businesses })
    })
    .post('/suppliers/:builder/:supplier/ask', (req, res) => {
      const found = parties(req, res)
      if (!found) return
      const externalRef = String(req.body?.externalRef ?? '').trim()
      if (!/^[A-Za-z0-9]{1,255}$/.test(externalRef))
        return problem(res, 400, 'The account number has 1 to 255 letters and digits.', req.account)
      const request = builders.ask(found.builder.context, found.supplier, externalRef)
      if (request)
        webhooks.emit(found.supplier, 'integration-connection.requested', builders.describe(request))
      res.redirect(303, '/suppliers')
    })
    .get('/suppliers/:builder/:supplier/:catalogue', (req, res) => {
      const found = parties(req, res)
      if (!found) return
      const visible = builders.visible(found.builder.context, found.supplier)
      const catalogue = visible.find(({ id }) => id === req.params.catalogue)
      if (!catalogue) return problem(res, 404, 'This catalogue is not visible to you.', req.account)
      const items = catalogues.items(catalogue.id, '', SHOWN_ITEMS)
      page(res, 'items', { title: catalogue.name, account: req.account, catalogue, items })
    })
}
