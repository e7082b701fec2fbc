/** The people and businesses that the sandbox comes with. */
export interface Business {
  /** The value of bxcontext. */
  context: string
  name: string
}

export interface Account {
  id: string
  name: string
  email: string
  password: string
  businesses: Business[]
}

export const ACCOUNTS: Account[] = [
  {
    id: 'olivia',
    name: 'Olivia Hart',
    email: 'olivia@harbour.example',
    password: 'sandbox',
    businesses: [
      { context: 'harbour-homes', name: 'Harbour Homes' },
      { context: 'harbour-renovations', name: 'Harbour Renovations' },
    ],
  },
  {
    id: 'marcus',
    name: 'Marcus Reid',
    email: 'marcus@ridgeline.example',
    password: 'sandbox',
    businesses: [{ context: 'ridgeline-build', name: 'Ridgeline Build' }],
  },
  {
    id: 'priya',
    name: 'Priya Nair',
    email: 'priya@summit.example',
    password: 'sandbox',
    businesses: [{ context: 'summit-supplies', name: 'Summit Building Supplies' }],
  },
]

export const accountOf = (id: string | undefined) => ACCOUNTS.find((account) => account.id === id)
export const businessOf = (account: Account, context: unknown) =>
  account.businesses.find((business) => business.context === context)
