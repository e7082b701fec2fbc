import { type Request, type Response, Router } from 'express'
import { API_KEY, type Business, SUBSCRIPTION_KEY, SUPPLIERS, tenantsOf } from './accounts.ts'
import type { LivePricingCaller } from './live-pricing.ts'
import { loginUrl } from './login.ts'
import { page, problem } from './pages.ts'
import { SIGNATURE_HEADER, type Webhooks } from './webhooks.ts'

/** Business Setup, API: the keys of first-party access, the Webhooks screen, live pricing (specification 5.2.1, 6, 1.3). */
export function businessSetupRoutes(webhooks: Webhooks, livePricing: LivePricingCaller): Router {
  const businessIn = (req: Request, res: Response, context: unknown): Business | undefined => {
    const found = req.account && tenantsOf(req.account).find((tenant) => tenant.context === context)
    if (!found) problem(res, 404, 'There is no such business in this account.', req.account)
    return found
  }

  return Router()
    .get('/business-setup', (req, res) => {
      const account = req.account
      if (!account) return res.redirect(303, loginUrl(req))
      const businesses = tenantsOf(account).map((business) => ({
        ...business,
        webhook: webhooks.of(business.context),
        isSupplier: SUPPLIERS.includes(business.context),
        livePricing: livePricing.of(business.context),
        deliveries: webhooks.deliveries(business.context),
      }))
      const keys = { apiKey: API_KEY, subscriptionKey: SUBSCRIPTION_KEY, header: SIGNATURE_HEADER }
      return page(res, 'business-setup', { title: 'Business setup', account, businesses, ...keys })
    })
    .post('/business-setup/:context/webhook', (req, res) => {
      const business = businessIn(req, res, req.params.context)
      if (!business) return
      const url = String(req.body?.url ?? '').trim()
      if (url === '') webhooks.remove(business.context)
      else if (/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
        webhooks.register(business.context, url, String(req.body?.secret ?? '').trim() || undefined)
      else return problem(res, 400, 'The webhook needs an http or https address.', req.account)
      res.redirect(303, '/business-setup')
    })
    .post('/business-setup/:context/live-pricing', (req, res) => {
      const business = businessIn(req, res, req.params.context)
      if (!business) return
      const [url = '', clientId, given] = ['url', 'clientId', 'clientSecret'].map((name) =>
        String(req.body?.[name] ?? '').trim(),
      )
      const before = livePricing.of(business.context)
      const same =
        before?.clientId === clientId && URL.parse(before?.url ?? '')?.origin === URL.parse(url)?.origin
      // A secret is not sent to another address than the one that it was given for.
      const clientSecret = given || (same ? before?.clientSecret : '')
      const { protocol = '', username, search, hash } = URL.parse(url) ?? {}
      if (!url) livePricing.remove(business.context)
      else if (!/^https?:$/.test(protocol) || username || search || hash || !clientId || !clientSecret)
        return problem(
          res,
          400,
          'Live pricing needs an http or https address without user, query or #, a client id, and a client secret (again, when the address or the id is another).',
          req.account,
        )
      else livePricing.register(business.context, { url: url.replace(/\/+$/, ''), clientId, clientSecret })
      res.redirect(303, '/business-setup')
    })
    .post('/business-setup/:context/deliveries/:id/repeat', async (req, res) => {
      const business = businessIn(req, res, req.params.context)
      if (!business) return
      if (!(await webhooks.repeat(business.context, req.params.id)))
        return problem(res, 404, 'There is no such delivery any more.', req.account)
      res.redirect(303, '/business-setup')
    })
}
