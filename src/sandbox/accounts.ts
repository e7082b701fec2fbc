/** The sandbox's people and businesses. */
export interface Business {
  bxcontext: string
  name: string
  suburb: string
}

export interface Account {
  id: string
  name: string
  email: string
  password: string
  /** The businesses that the account can connect. */
  businesses: Business[]
}

const business = (bxcontext: string, name: string, suburb: string): Business => ({ bxcontext, name, suburb })

const account = (id: string, name: string, email: string, businesses: Business[]): Account => {
  return { id, name, email, password: 'sandbox', businesses }
}

export const ACCOUNTS: Account[] = [
  account('olivia', 'Olivia Hart', 'olivia@harbour.example', [
    business('harbour-homes', 'Harbour Homes', 'Newtown'),
    business('harbour-renovations', 'Harbour Renovations', 'Balmain'),
  ]),
  account('marcus', 'Marcus Reid', 'marcus@ridgeline.example', [
    business('ridgeline-build', 'Ridgeline Build', 'Glenelg'),
  ]),
  account('priya', 'Priya Nair', 'priya@summit.example', [
    business('summit-supplies', 'Summit Building Supplies', 'Northcote'),
  ]),
  account('sam', 'Sam Field', 'sam@demo.example', [
    business('demo-builders', 'Demo Builders', 'Fremantle'),
    business('demo-renovations', 'Demo Renovations', 'Cottesloe'),
  ]),
]

export const findAccount = (id: string | undefined) => ACCOUNTS.find((account) => account.id === id)

/** One of the businesses that the account can connect. */
export const connectableBusiness = (account: Account, bxcontext: unknown) =>
  account.businesses.find((business) => business.bxcontext === bxcontext)
