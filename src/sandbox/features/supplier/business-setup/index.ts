import { type Request, type Response, Router } from 'express'
import type { Account } from '../../../accounts.ts'
import type { SandboxCore, SandboxFeature } from '../../../feature.ts'
import { loginUrl } from '../../../login.ts'
import { page, problem } from '../../../pages.ts'
import type { Place } from '../../../sections.ts'
import { type Tenant, tenantsOf } from '../businesses.ts'

/** The sections of Business setup, for the account and for each of its businesses. */
export const ACCOUNT_SETUP: Place<Account> = { name: 'account setup' }
export const BUSINESS_SETUP: Place<Tenant> = { name: 'business setup' }

/** Business setup: the API settings of a business. It has no counterpart in the app, because several features add to it. */
export default {
  create: (core) => ({
    routes: businessSetupRoutes(core),
    links: [{ href: '/business-setup', label: 'Business setup' }],
  }),
} satisfies SandboxFeature

/** Returns the business that a form's address names. Answers 404 if the account has no such business. */
export function ownBusiness(req: Request, res: Response): Tenant | undefined {
  const { bxcontext } = req.params
  const business = req.account && tenantsOf(req.account).find((tenant) => tenant.bxcontext === bxcontext)
  if (!business) problem(res, 404, 'There is no such business in this account.', req.account)
  return business
}

function businessSetupRoutes({ sectionsAt }: SandboxCore): Router {
  return Router().get('/business-setup', (req, res) => {
    const account = req.account
    if (!account) return res.redirect(303, loginUrl(req.originalUrl))
    const sections = sectionsAt(ACCOUNT_SETUP, account)
    const businesses = tenantsOf(account)
      .map((business) => ({ ...business, sections: sectionsAt(BUSINESS_SETUP, business) }))
      .filter(({ sections }) => sections.length > 0)
    const shown = { title: 'Business setup', account, sections, businesses }
    return page(res, 'supplier/business-setup', shown)
  })
}
