/** The sandbox's people and businesses. */
export interface Business {
  bxcontext: string
  name: string
  /** A GUID, which names the business where an API key may act for several. */
  tenantId: string
  suburb: string
}

export interface Account {
  id: string
  name: string
  email: string
  password: string
  /** The businesses that the account can connect. */
  businesses: Business[]
  /** Further tenants that its API key may act for (specification 5.2.7). */
  franchises: Business[]
}

const business = (bxcontext: string, name: string, suburb: string, number: string): Business => ({
  bxcontext,
  name,
  suburb,
  tenantId: `5f1c2a60-6d0e-4b7e-9a53-0c1d5f3e9a${number}`,
})

const account = (
  id: string,
  name: string,
  email: string,
  businesses: Business[],
  franchises: Business[] = [],
): Account => ({ id, name, email, password: 'sandbox', businesses, franchises })

export const ACCOUNTS: Account[] = [
  account('olivia', 'Olivia Hart', 'olivia@harbour.example', [
    business('harbour-homes', 'Harbour Homes', 'Newtown', '01'),
    business('harbour-renovations', 'Harbour Renovations', 'Balmain', '02'),
  ]),
  account('marcus', 'Marcus Reid', 'marcus@ridgeline.example', [
    business('ridgeline-build', 'Ridgeline Build', 'Glenelg', '03'),
  ]),
  account(
    'priya',
    'Priya Nair',
    'priya@summit.example',
    [business('summit-supplies', 'Summit Building Supplies', 'Northcote', '04')],
    [
      business('summit-coast', 'Summit Coast', 'Coogee', '05'),
      business('summit-ranges', 'Summit Ranges', 'Belconnen', '06'),
    ],
  ),
  account('sam', 'Sam Field', 'sam@demo.example', [
    business('demo-builders', 'Demo Builders', 'Fremantle', '07'),
    business('demo-renovations', 'Demo Renovations', 'Cottesloe', '08'),
  ]),
]

export const findAccount = (id: string | undefined) => ACCOUNTS.find((account) => account.id === id)

/** One of the businesses that the account can connect. */
export const connectableBusiness = (account: Account, bxcontext: unknown) =>
  account.businesses.find((business) => business.bxcontext === bxcontext)

/** Every business that belongs to the account. */
export const tenantsOf = (account: Account) => [...account.businesses, ...account.franchises]

/** Any business, with the account that it belongs to. */
export const findBusiness = (bxcontext: string) =>
  ACCOUNTS.flatMap((account) => tenantsOf(account).map((business) => ({ account, business }))).find(
    ({ business }) => business.bxcontext === bxcontext,
  )

export const nameOf = (bxcontext: string) => findBusiness(bxcontext)?.business.name ?? bxcontext
