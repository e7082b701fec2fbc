const BXCONTEXT = 'bxcontext'

/** The scopes that the platform documents, by what they are for. */
export const SCOPES = { catalogues: 'catalogues', leads: 'leads' } as const

/**
 * The platform's own names, as the specification and docs/assumptions.md have them. The sandbox shares no code with the app
 * that it tests, so this is a copy of what `src/connect/platform/contract.ts` has.
 */
export const PLATFORM = {
  startPage: { path: '/oauth2.html', redirectUrl: 'redirectUrl', bxcontext: BXCONTEXT },
  /** Below `{auth_url}`. */
  authorizePath: '/authorize',
  tokenPath: '/oauth/token',
  revocationPath: '/oauth/revoke',
  /** The parameter of the consent url, the code exchange and the refresh. */
  bxcontext: BXCONTEXT,
  /** Below `{base_url}`: answers 401 without a token, whichever features are simulated. */
  apiCheckPath: '/catalogues',
  /** The description of each scope on the consent page. Features can bring more scopes. */
  scopes: {
    [SCOPES.catalogues]: 'See and update your catalogues and their prices',
    [SCOPES.leads]: 'See your leads and create new ones',
  },
  paging: {
    top: '$top',
    skip: '$skip',
    orderBy: '$orderby',
    filter: '$filter',
    count: '$count',
    totalHeader: 'x-odata-total-count',
    maxTop: 100,
  },
} as const

export type Addresses = ReturnType<typeof addressesOf>

/** The platform's three addresses, of a sandbox at this base url. */
export function addressesOf(baseUrl: string) {
  return { appUrl: baseUrl, authUrl: `${baseUrl}/auth`, apiUrl: `${baseUrl}/api` }
}
