/** The people and businesses that the sandbox comes with. */
export interface Business {
  /** The value of bxcontext. */
  context: string
  name: string
  /** A GUID, for first-party access. */
  tenantId: string
  suburb: string
}

/** The API key of every account and the subscription key: the sandbox's own, good for nothing else. */
export const API_KEY = 'sandbox-api-key'
export const SUBSCRIPTION_KEY = 'sandbox-subscription-key'

export interface Account {
  id: string
  name: string
  email: string
  password: string
  /** What the account can connect. */
  businesses: Business[]
  /** Further tenants that its API key may act for (specification 5.2.7). */
  franchises: Business[]
}

const business = (context: string, name: string, suburb: string, tenantId: string): Business => ({
  ...{ context, name, suburb, tenantId },
})

export const ACCOUNTS: Account[] = [
  {
    id: 'olivia',
    name: 'Olivia Hart',
    email: 'olivia@harbour.example',
    password: 'sandbox',
    businesses: [
      business('harbour-homes', 'Harbour Homes', 'Newtown', '5f1c2a60-6d0e-4b7e-9a53-0c1d5f3e9a01'),
      business(
        'harbour-renovations',
        'Harbour Renovations',
        'Balmain',
        '5f1c2a60-6d0e-4b7e-9a53-0c1d5f3e9a02',
      ),
    ],
    franchises: [],
  },
  {
    id: 'marcus',
    name: 'Marcus Reid',
    email: 'marcus@ridgeline.example',
    password: 'sandbox',
    businesses: [
      business('ridgeline-build', 'Ridgeline Build', 'Glenelg', '5f1c2a60-6d0e-4b7e-9a53-0c1d5f3e9a03'),
    ],
    franchises: [],
  },
  {
    id: 'priya',
    name: 'Priya Nair',
    email: 'priya@summit.example',
    password: 'sandbox',
    businesses: [
      business(
        'summit-supplies',
        'Summit Building Supplies',
        'Northcote',
        '5f1c2a60-6d0e-4b7e-9a53-0c1d5f3e9a04',
      ),
    ],
    franchises: [
      business('summit-coast', 'Summit Coast', 'Coogee', '5f1c2a60-6d0e-4b7e-9a53-0c1d5f3e9a05'),
      business('summit-ranges', 'Summit Ranges', 'Belconnen', '5f1c2a60-6d0e-4b7e-9a53-0c1d5f3e9a06'),
    ],
  },
]

export const accountOf = (id: string | undefined) => ACCOUNTS.find((account) => account.id === id)
export const businessOf = (account: Account, context: unknown) =>
  account.businesses.find((business) => business.context === context)

/** Every business that sells to builders. */
export const SUPPLIERS = ['summit-supplies', 'summit-coast', 'summit-ranges']
/** Every business there is, and the account that it belongs to. */
export const tenantsOf = (account: Account) => [...account.businesses, ...account.franchises]
export const businessNamed = (context: string) => {
  const account = ACCOUNTS.find((known) => tenantsOf(known).some((tenant) => tenant.context === context))
  const found = account && tenantsOf(account).find((tenant) => tenant.context === context)
  return account && found ? { account, business: found } : undefined
}
