const BXCONTEXT = 'bxcontext'

/** The platform's documented scopes, by purpose. */
export const SCOPES = { catalogues: 'catalogues', leads: 'leads' } as const

/**
 * The platform's own names, as in the specification and docs/assumptions.md. The sandbox shares no code with the app that it
 * tests, so this file copies them from `src/connect/platform/contract.ts`.
 */
export const PLATFORM = {
  startPage: { path: '/oauth2.html', redirectUrl: 'redirectUrl', bxcontext: BXCONTEXT },
  /** Below `{auth_url}`. */
  authorizePath: '/authorize',
  tokenPath: '/oauth/token',
  revocationPath: '/oauth/revoke',
  /** The parameter of the consent url, the code exchange and the refresh. */
  bxcontext: BXCONTEXT,
  /** A path below `{base_url}` that answers 401 without a token, even if no feature simulates it. */
  apiCheckPath: '/catalogues',
  /** The description of each scope on the consent page. Features can add more scopes. */
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

/** The platform's three addresses in a sandbox at this base url. */
export function addressesOf(baseUrl: string) {
  return { appUrl: baseUrl, authUrl: `${baseUrl}/auth`, apiUrl: `${baseUrl}/api` }
}
