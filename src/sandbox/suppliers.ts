import { type Request, type Response, Router } from 'express'
import { businessNamed, businessOf, SUPPLIERS } from './accounts.ts'
import type { BuilderData } from './builder-data.ts'
import type { CatalogueData } from './catalogue-data.ts'
import { livePrices, MOST_ITEMS, pickedCodes, sumOf } from './live-prices.ts'
import type { LivePricingCaller } from './live-pricing.ts'
import { loginUrl } from './login.ts'
import { page, problem } from './pages.ts'
import type { Webhooks } from './webhooks.ts'

export interface SuppliersOptions {
  builders: BuilderData
  catalogues: CatalogueData
  webhooks: Webhooks
  livePricing: LivePricingCaller
}

const SHOWN_ITEMS = 50

/** The builder's side: ask a supplier to connect, and see what it lets one see. */
export function suppliersRoutes({ builders, catalogues, webhooks, livePricing }: SuppliersOptions): Router {
  /** The builder and the supplier that a form or an address names. */
  function parties(req: Request, res: Response) {
    if (!req.account && req.method === 'GET') {
      res.redirect(303, loginUrl(req))
      return undefined
    }
    const builder = req.account && businessOf(req.account, req.params.builder)
    const supplier = SUPPLIERS.includes(String(req.params.supplier)) && String(req.params.supplier)
    if (builder && supplier) return { builder, supplier }
    problem(res, 404, 'There is no such business in this account, or no such supplier.', req.account)
    return undefined
  }

  /** The catalogue of an address, if the builder may see it. */
  function visibleCatalogue(req: Request, res: Response) {
    const found = parties(req, res)
    if (!found) return undefined
    const visible = builders.visible(found.builder.context, found.supplier)
    const catalogue = visible.find(({ id }) => id === req.params.catalogue)
    if (catalogue) return { ...found, catalogue }
    problem(res, 404, 'This catalogue is not visible to you.', req.account)
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
      const found = visibleCatalogue(req, res)
      if (!found) return
      const { catalogue, supplier } = found
      const [after, search] = [
        String(req.query.after ?? ''),
        String(req.query.q ?? '')
          .trim()
          .slice(0, 100),
      ]
      const items = catalogues.search(catalogue.id, { search, after, top: SHOWN_ITEMS + 1 })
      page(res, 'items', {
        ...{
          title: catalogue.name,
          account: req.account,
          catalogue,
          search,
          picked: pickedCodes(req),
          at: addressOf(req),
        },
        ...{
          items: items.slice(0, SHOWN_ITEMS),
          next: items.length > SHOWN_ITEMS ? items[SHOWN_ITEMS - 1]?.code : undefined,
        },
        hasLivePricing: livePricing.of(supplier) !== undefined && catalogues.isPublished(catalogue.id),
      })
    })
    .get('/suppliers/:builder/:supplier/:catalogue/live-prices', async (req, res) => {
      const found = visibleCatalogue(req, res)
      if (!found) return
      const { catalogue, supplier, builder } = found
      // Specification 1.2: live pricing is asked for items of a published catalogue and for nothing else.
      if (!catalogues.isPublished(catalogue.id))
        return problem(
          res,
          409,
          'This catalogue is not published yet: its import has not been completed. No prices were asked for.',
          req.account,
        )
      const codes = pickedCodes(req)
      if (codes.length > MOST_ITEMS)
        return problem(
          res,
          400,
          `At most ${MOST_ITEMS} items are priced at once; ${codes.length} are picked.`,
          req.account,
        )
      const items = catalogues.itemsByCode(catalogue.id, codes)
      if (items.length < codes.length)
        return problem(res, 400, 'The catalogue has no such item. No prices were asked for.', req.account)
      const memberNumber = builders.between(builder.context, supplier)?.externalRef ?? ''
      const shown = await livePrices(req, { caller: livePricing, supplier, items, memberNumber })
      page(res, 'live-prices', {
        ...{ title: 'Live prices', account: req.account, catalogue, at: addressOf(req) },
        ...{
          ...shown,
          sum: sumOf(shown.rows),
          supplierName: businessNamed(supplier)?.business.name ?? supplier,
        },
      })
    })
}

/** The page of the catalogue that an address is about. */
function addressOf({ params }: Request): string {
  const { builder, supplier, catalogue } = params
  return `/suppliers/${[builder, supplier, catalogue].map((part) => encodeURIComponent(String(part))).join('/')}`
}
