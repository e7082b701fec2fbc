import { Router } from 'express'
import { nameOf } from '../../accounts.ts'
import { ownBusiness } from '../../business-setup.ts'
import type { Sql } from '../../database.ts'
import { leaveNotice, page, problem } from '../../pages.ts'
import { createBuilderConnections } from '../catalogues/builder-connections.ts'
import { createCatalogues } from '../catalogues/catalogues.ts'
import { createItems } from '../catalogues/items.ts'
import { cataloguePath, pickedCodes, visibleCatalogue } from '../catalogues/suppliers.ts'
import type { LivePricingClient } from './client.ts'
import { livePrices, MAX_ITEMS, sumOf } from './live-prices.ts'
import type { Registration, Registrations } from './registrations.ts'

const INVALID_REGISTRATION =
  'Live pricing needs an http or https address without user, query or #, a client id, and a client secret (again, if the address or the client id has changed).'

/** The page of live prices. */
export function livePricesRoutes(sql: Sql, client: LivePricingClient): Router {
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
    const shown = await livePrices(req, { client, supplier, items, memberNumber })
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

/** The form of Business setup. */
export function registrationRoutes(registrations: Registrations, client: LivePricingClient): Router {
  return Router().post('/business-setup/:bxcontext/live-pricing', (req, res) => {
    const business = ownBusiness(req, res)
    if (!business) return
    const { bxcontext } = business
    const registration = readRegistration(req.body ?? {}, registrations.find(bxcontext))
    if (!registration) return problem(res, 400, INVALID_REGISTRATION, req.account)
    if (registration.url === '') registrations.remove(bxcontext)
    else registrations.save(bxcontext, registration)
    client.forgetToken(bxcontext)
    leaveNotice(
      res,
      registration.url === ''
        ? 'Live pricing was removed. Builders see no live prices of this supplier.'
        : 'Live pricing was saved. The next request for prices goes there.',
    )
    res.redirect(303, '/business-setup')
  })
}

/** The form's registration, with an empty url to remove it; undefined when it is invalid. */
function readRegistration(
  form: Record<string, unknown>,
  earlier: Registration | undefined,
): Registration | undefined {
  const field = (name: string) => String(form[name] ?? '').trim()
  const [url, clientId] = [field('url').replace(/\/+$/, ''), field('clientId')]
  if (url === '') return { url, clientId: '', clientSecret: '' }
  const { protocol = '', username, search, hash, origin } = URL.parse(url) ?? {}
  // The stored secret is never sent to another address than the one it was saved for.
  const isSame = earlier?.clientId === clientId && URL.parse(earlier.url)?.origin === origin
  const clientSecret = field('clientSecret') || (isSame && earlier?.clientSecret)
  const isPlain = /^https?:$/.test(protocol) && !username && !search && !hash
  return isPlain && clientId && clientSecret ? { url, clientId, clientSecret } : undefined
}
