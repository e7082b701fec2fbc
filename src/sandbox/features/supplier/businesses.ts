import { ACCOUNTS, type Account, type Business } from '../../accounts.ts'

/** The business that `npm run demo` sets up as a supplier. */
export const SAMPLE_SUPPLIER = 'summit-supplies'
/** The businesses that sell to builders. */
export const SUPPLIERS = [SAMPLE_SUPPLIER, 'summit-coast', 'summit-ranges']

/** A business that an API key of its account may act for (specification 5.2.7). */
export interface Tenant extends Business {
  tenantId: string
}

/** Businesses that their account can access only by API key. */
const FRANCHISES: Record<string, Business[]> = {
  priya: [
    { bxcontext: 'summit-coast', name: 'Summit Coast', suburb: 'Coogee' },
    { bxcontext: 'summit-ranges', name: 'Summit Ranges', suburb: 'Belconnen' },
  ],
}

const TENANTS = ACCOUNTS.flatMap((account) =>
  [...account.businesses, ...(FRANCHISES[account.id] ?? [])].map((business) => ({ account, business })),
).map(({ account, business }, index) => {
  const number = String(index + 1).padStart(2, '0')
  return { account, business: { ...business, tenantId: `5f1c2a60-6d0e-4b7e-9a53-0c1d5f3e9a${number}` } }
})

/** All businesses of the account. */
export const tenantsOf = ({ id }: Account): Tenant[] =>
  TENANTS.flatMap(({ account, business }) => (account.id === id ? business : []))

/** Finds a business, with its account. */
export const findBusiness = (bxcontext: string) =>
  TENANTS.find(({ business }) => business.bxcontext === bxcontext)

export const nameOf = (bxcontext: string) => findBusiness(bxcontext)?.business.name ?? bxcontext
