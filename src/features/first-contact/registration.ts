import { redirectUrls } from '../../connect/index.ts'
import type { Contract } from '../tools.ts'
import { DEFAULT_NAME, type SetupSettings } from './settings.ts'

/** What platform support needs in order to register this app, and what to ask them. */
export interface Registration {
  appName: string
  logoUrl: string | null
  /** What should be changed before it is sent. */
  warnings: string[]
  environments: Environment[]
  scopes: { name: string; reasons: string[] }[]
  /** What they must send back, each with the setting that takes it. */
  answers: { what: string; setting: string }[]
  /** From the assumptions, the most important first. */
  questions: { id: string; topic: string; assumed: string; importance: number }[]
}

export interface Environment {
  name: string
  setting: string
  /** The redirect urls; empty if the address of the environment is not known. */
  urls: string[]
  /** Why the platform may refuse these urls. */
  warnings: string[]
}

export interface RegistrationOptions extends SetupSettings {
  baseUrl: string
  scopes: readonly string[]
  contracts: readonly Contract[]
}

const ANSWERS = [
  { what: 'The client id', setting: 'PLATFORM_CLIENT_ID' },
  { what: 'The client secret, over a channel that is safe for secrets', setting: 'PLATFORM_CLIENT_SECRET' },
  { what: 'The address of the web application, where oauth2.html is', setting: 'PLATFORM_APP_URL' },
  { what: 'The address of the identity provider, where /oauth/token is', setting: 'PLATFORM_AUTH_URL' },
  { what: 'The address of the API, where /catalogues is', setting: 'PLATFORM_API_URL' },
  { what: 'The path of the consent page', setting: 'PLATFORM_AUTHORIZE_PATH' },
  {
    what: 'Further parameters of the consent url, such as an audience',
    setting: 'PLATFORM_AUTHORIZE_PARAMS',
  },
  {
    what: 'How token requests carry the client id and the secret: client_secret_post or client_secret_basic',
    setting: 'PLATFORM_TOKEN_ENDPOINT_AUTH_METHOD',
  },
  { what: 'The names of the scopes, if they are not those above', setting: 'PLATFORM_SCOPES' },
  { what: 'A staging account to test with', setting: '' },
]

/** Fills in the registration from the settings. */
export function registrationOf(options: RegistrationOptions): Registration {
  const { appName, logoUrl = null, baseUrl, stagingUrl, productionUrl, scopes, contracts } = options
  const environments = [
    environmentOf('Development', 'BASE_URL', baseUrl),
    environmentOf('Staging', 'APP_STAGING_URL', stagingUrl),
    environmentOf('Production', 'APP_PRODUCTION_URL', productionUrl),
  ]
  const reasonsFor = (scope: string) => contracts.flatMap((contract) => contract.scopes[scope] ?? [])
  const questions = contracts.flatMap(({ assumptions }) => assumptions)
  return {
    appName,
    logoUrl: isWebAddress(logoUrl) ? logoUrl : null,
    warnings: [
      appName === DEFAULT_NAME && 'Set APP_NAME to the name of your app.',
      logoUrl !== null && !isWebAddress(logoUrl) && 'APP_LOGO_URL is not an https address: it is left out.',
    ].filter((warning) => warning !== false),
    environments,
    scopes: scopes.map((name) => ({ name, reasons: reasonsFor(name) })),
    answers: ANSWERS,
    questions: questions
      .toSorted((one, other) => one.importance - other.importance)
      .map(({ id, topic, assumed, importance }) => ({ id, topic, assumed, importance })),
  }
}

const isWebAddress = (address: string | null): boolean => URL.parse(address ?? '')?.protocol === 'https:'

/** The urls are those that the app sends if this is its `BASE_URL`: an origin, as browsers write it. */
function environmentOf(name: string, setting: string, address: string | undefined): Environment {
  if (!address) return { name, setting, urls: [], warnings: [`Set ${setting} to the address of the app.`] }
  const url = URL.parse(address)
  const isUsable = url !== null && /^https?:$/.test(url.protocol) && !url.hostname.includes('*')
  return { name, setting, urls: isUsable ? [...redirectUrls(url.origin)] : [], warnings: warningsOf(address) }
}

/** Why an authorization server may refuse redirect urls at this address (RFC 6749 section 3.1.2, RFC 9700 section 2.1). */
export function warningsOf(address: string): string[] {
  const url = URL.parse(address)
  if (!url || !/^https?:$/.test(url.protocol)) return ['The address is not an http or https address.']
  const isLoopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname)
  return [
    address.includes('?') &&
      'The address has a query string, which is left out: redirect URLs are compared as plain text.',
    address.includes('#') && 'The address has a fragment, which no redirect URL may have: it is left out.',
    url.hostname.includes('*') && 'The address has a wildcard. Each redirect URL must be registered in full.',
    url.pathname !== '/' &&
      'The address has a path, which is left out: this app must be at the root of its host.',
    (url.username || url.password) && 'The address has a user or a password, which are left out.',
    url.protocol === 'http:' &&
      (isLoopback
        ? 'The address is http. Ask whether the platform accepts http for localhost.'
        : 'The address is http. Platforms accept https only, except for localhost.'),
  ].filter((warning) => typeof warning === 'string' && warning !== '') as string[]
}
