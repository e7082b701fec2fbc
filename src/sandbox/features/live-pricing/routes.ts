import { Router } from 'express'
import { nameOf } from '../../accounts.ts'
import { ownBusiness } from '../../business-setup.ts'
import type { SandboxCore } from '../../feature.ts'
import { leaveNotice, page, problem } from '../../pages.ts'
import { createBuilderConnections } from '../catalogues/builder-connections.ts'
import { createCatalogues } from '../catalogues/catalogues.ts'
import { createItems } from '../catalogues/items.ts'
import type { Registrations } from '../catalogues/registrations.ts'
import { cataloguePath, pickedCodes, visibleCatalogue } from '../catalogues/suppliers.ts'
import { type Registration, registrationSchema } from './client.ts'
import { livePrices, MAX_ITEMS, sumOf } from './live-prices.ts'

const INVALID_REGISTRATION =
  'Live pricing needs an http or https address without user, query or #, a client id, and a client secret.'

/** The page of live prices. */
export function livePricesRoutes(
  { sql, journal }: SandboxCore,
  registrations: Registrations<Registration>,
): Router {
  const { isPublished } = createCatalogues(sql)
  const { byCode } = createItems(sql)
  const { between } = createBuilderConnections(sql)
  return Router().get('/suppliers/:builder/:supplier/:catalogue/live-prices', async (req, res) => {
    const found = visibleCatalogue(sql, req, res)
    if (!found) return
    const { catalogue, supplier, builder } = found
    const { account } = req
    // Specification 1.2: the platform asks for prices of items in published catalogues only.
    if (!isPublished(catalogue.id))
      return problem(
        res,
        409,
        'This catalogue is not published yet: its import is not completed. No prices were requested.',
        account,
      )
    const codes = pickedCodes(req)
    if (codes.length > MAX_ITEMS)
      return problem(
        res,
        400,
        `At most ${MAX_ITEMS} items are priced at once; you picked ${codes.length}.`,
        account,
      )
    const items = byCode(catalogue.id, codes)
    if (items.length < codes.length)
      return problem(res, 400, 'The catalogue has no such item. No prices were requested.', account)
    const memberNumber = between(builder.bxcontext, supplier)?.externalRef ?? ''
    const registration = registrations.find(supplier)
    const shown = await livePrices(req, { journal, supplier, registration, items, memberNumber })
    page(res, 'live-pricing/live-prices', {
      title: 'Live prices',
      account,
      catalogue,
      path: cataloguePath(req),
      supplierName: nameOf(supplier),
      sum: sumOf(shown.rows),
      ...shown,
    })
  })
}

/** The form of Business setup: without an address, live pricing is removed. */
export function registrationRoutes(registrations: Registrations<Registration>): Router {
  return Router().post('/business-setup/:bxcontext/live-pricing', (req, res) => {
    const business = ownBusiness(req, res)
    if (!business) return
    const field = (name: string) => String(req.body?.[name] ?? '').trim()
    const url = field('url').replace(/\/+$/, '')
    if (url === '') registrations.remove(business.bxcontext)
    else {
      const form = { url, clientId: field('clientId'), clientSecret: field('clientSecret') }
      const { data } = registrationSchema.safeParse(form)
      if (!data || !isPlain(url)) return problem(res, 400, INVALID_REGISTRATION, req.account)
      registrations.save(business.bxcontext, data)
    }
    leaveNotice(
      res,
      url === ''
        ? 'Live pricing was removed. Builders see no live prices of this supplier.'
        : 'Live pricing was saved. The next request for prices goes there.',
    )
    res.redirect(303, '/business-setup')
  })
}

function isPlain(url: string): boolean {
  const { protocol = '', username, search, hash } = URL.parse(url) ?? {}
  return /^https?:$/.test(protocol) && !username && !search && !hash
}
