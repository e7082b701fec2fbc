/**
 * The environment as a typed config. Every problem is reported at once, by the variable's name; a value is never
 * repeated, as it may be a secret.
 */

import { isIP } from 'node:net'
import { AUTHORIZE_PATH, RATE_LIMIT, WEBHOOK_HEADER } from './connect/platform/contract.ts'
import type { EncryptionKey } from './connect/vault/encryption.ts'
import type { FirstPartyCredentials } from './features/first-party/first-party.ts'
import type { Client } from './features/live-pricing/clients.ts'

export interface PlatformConfig {
  appUrl: string
  authUrl: string
  apiUrl: string
  clientId: string
  clientSecret: string
  scopes: string[]
  authorizePath: string
  authorizeParams: Record<string, string>
  pkce: boolean
  /** For jobs by API key; null when none is set. */
  firstParty: FirstPartyCredentials | null
  /** What the platform takes from one credential; null: no limit. */
  rateLimit: RateLimit | null
}

/** A limit of requests in a window. */
export interface RateLimit {
  limit: number
  windowMs: number
}

/** Interface A, which a supplier hosts. */
export interface LivePricingConfig {
  /** Who may call each base; without any, it is not served. */
  clients: { production: Client[]; staging: Client[] }
  /** What is taken from one client; null: no limit. */
  rateLimit: RateLimit | null
}

export interface Config {
  production: boolean
  port: number
  /** The address to listen on; undefined: all. */
  host: string | undefined
  /** Whether the demo's sign-in is open to other machines. */
  demoAllowRemote: boolean
  /** How many proxies stand in front, whose word on the caller's address is taken. */
  proxies: number
  /** The app's public origin, without a closing slash. */
  baseUrl: string
  /** The first signs. */
  sessionSecrets: string[]
  /** The first encrypts. */
  tokenKeys: EncryptionKey[]
  /** Empty: the embedded SQLite in `dataDir`. Several: a cluster. */
  redisUrls: string[]
  dataDir: string
  /** The largest price file that is taken, in bytes. */
  maxPriceFileBytes: number
  /** The most that the price files of one user may take together, in bytes. */
  uploadQuotaBytes: number
  /** `secrets` is empty: no webhook is received. */
  webhook: { secrets: string[]; header: string }
  logLevel: string
  livePricing: LivePricingConfig
  platform: PlatformConfig
}

/** The settings do not make a working app; `problems` has one line for each, starting with the variable's name. */
export class ConfigError extends Error {
  readonly problems: string[]
  constructor(problems: string[]) {
    super(
      problems.length === 1
        ? `The settings have a problem: ${problems[0]}`
        : `The settings have ${problems.length} problems:\n  ${problems.join('\n  ')}\n.env.example has every setting; \`npm run demo\` needs none.`,
    )
    this.name = 'ConfigError'
    this.problems = problems
  }
}

type Environment = Record<string, string | undefined>

const ENVIRONMENTS = ['production', 'development', 'test']
const LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']
/** Parameters of the consent url that the flow itself sets. */
const RESERVED = new Set([
  ...['response_type', 'client_id', 'redirect_uri', 'scope', 'state', 'bxcontext'],
  ...['code_challenge', 'code_challenge_method'],
])

export interface ReadOptions {
  /** Whether sign-in is still the demo's, which production refuses. */
  demoSignIn: boolean
  /** For a program that acts by API key alone: what only the app needs may be missing. */
  firstPartyOnly?: boolean
  /** For a program that serves live pricing alone: what is the platform's may be missing. */
  livePricingOnly?: boolean
}

/** Reads the environment. Throws `ConfigError`. */
export function readConfig(env: Environment, options: ReadOptions): Config {
  const { demoSignIn, firstPartyOnly = false, livePricingOnly = false } = options
  const withoutPages = firstPartyOnly || livePricingOnly
  const problems: string[] = []
  const get = (name: string) => env[name]?.trim() || undefined
  const wrong = <T>(name: string, rule: string, instead: T): T => {
    problems.push(`${name} ${rule}`)
    return instead
  }
  const environment = get('NODE_ENV') ?? 'development'
  if (!ENVIRONMENTS.includes(environment))
    problems.push(`NODE_ENV must be ${ENVIRONMENTS.join(', ')} or unset`)
  const production = environment === 'production'

  function required(name: string, hint: string): string {
    return get(name) ?? wrong(name, `is not set: ${hint}`, '')
  }

  /** Required by the app, not by a program without pages. */
  function appOnly(name: string, hint: string): string {
    return withoutPages ? (get(name) ?? '') : required(name, hint)
  }

  function address(name: string, value: string, { path }: { path: boolean }): string {
    if (value === '') return value
    const url = URL.parse(value)
    if (!url || !/^https?:$/.test(url.protocol)) return wrong(name, 'must be an http or https address', '')
    if (url.username || url.password || url.search || url.hash)
      return wrong(name, 'must be an address without user, query or #', '')
    if (!path && url.pathname !== '/') return wrong(name, 'must be an address without a path', '')
    if (production && url.protocol === 'http:' && !isLoopback(url))
      return wrong(name, 'must be https in production', '')
    return (url.origin + url.pathname).replace(/\/+$/, '')
  }

  function platformAddress(name: string, need = appOnly): string {
    return address(name, need(name, 'ask the platform’s support'), { path: true })
  }

  function list(name: string): string[] {
    return (get(name) ?? '')
      .split(',')
      .map((part) => part.trim())
      .filter(Boolean)
  }

  function port(): number {
    const value = get('PORT') ?? '3000'
    return /^\d{1,5}$/.test(value) && Number(value) > 0 && Number(value) < 65_536
      ? Number(value)
      : wrong('PORT', 'must be a whole number from 1 to 65535', 0)
  }

  function sessionSecrets(): string[] {
    const secrets = list('SESSION_SECRET')
    if (secrets.length === 0 && withoutPages) return []
    if (secrets.length === 0)
      return wrong('SESSION_SECRET', 'is not set: `npm run keys` prints a new one', [])
    if (production && secrets.some((secret) => secret.length < 32 || new Set(secret).size < 10)) {
      return wrong(
        'SESSION_SECRET',
        'is too weak: 32 random characters or more; `npm run keys` prints a new one',
        [],
      )
    }
    return secrets
  }

  function tokenKeys(): EncryptionKey[] {
    const parts = list('TOKEN_KEYS')
    if (parts.length === 0) return wrong('TOKEN_KEYS', 'is not set: `npm run keys` prints a new one', [])
    const keys = parts.flatMap((part, index) => {
      const [, id = '', base64 = ''] = /^([\w-]{1,32}):([A-Za-z0-9+/]{43}=)$/.exec(part) ?? []
      const secret = Buffer.from(base64, 'base64')
      if (secret.length !== 32) {
        return wrong('TOKEN_KEYS', `entry ${index + 1} must be an id, a colon and 32 bytes in base64`, [])
      }
      if (new Set(secret).size < 8)
        return wrong('TOKEN_KEYS', `entry ${index + 1} is too weak: its bytes are not random`, [])
      return [{ id, secret }]
    })
    if (new Set(keys.map(({ id }) => id)).size < keys.length)
      return wrong('TOKEN_KEYS', 'has an id twice', keys)
    return keys
  }

  function redisUrls(): string[] {
    const urls = list('REDIS_URL')
    const valid = urls.every((text) => {
      const url = URL.parse(text)
      return url && /^rediss?:$/.test(url.protocol) && /^\/?\d*$/.test(url.pathname)
    })
    if (!valid) {
      const rule =
        'must be redis:// or rediss:// addresses, comma separated; a path can only be the number of a database'
      return wrong('REDIS_URL', rule, [])
    }
    const plain = urls
      .map((text) => new URL(text))
      .some((url) => url.protocol === 'redis:' && !isLoopback(url))
    if (production && plain && !flag('REDIS_PLAINTEXT', false)) {
      const rule =
        'must be rediss:// in production, or a Redis on this machine; on a private network set REDIS_PLAINTEXT=true'
      return wrong('REDIS_URL', rule, [])
    }
    return urls
  }

  function flag(name: string, usual: boolean): boolean {
    const value = get(name)
    if (value === undefined) return usual
    return value === 'true' || value === 'false'
      ? value === 'true'
      : wrong(name, 'must be true or false', usual)
  }

  function host(): string | undefined {
    const value = get('HOST')
    if (value === undefined || isIP(value) !== 0 || /^[A-Za-z\d]([A-Za-z\d.-]*[A-Za-z\d])?$/.test(value))
      return value
    return wrong('HOST', 'must be an IP address or a host name, such as 127.0.0.1 or 0.0.0.0', undefined)
  }

  function authorizePath(): string {
    const path = get('PLATFORM_AUTHORIZE_PATH') ?? AUTHORIZE_PATH
    return /^\/[\w\-./~%]*$/.test(path)
      ? path
      : wrong('PLATFORM_AUTHORIZE_PATH', 'must be a path that starts with /', path)
  }

  function authorizeParams(): Record<string, string> {
    const params = [...new URLSearchParams(get('PLATFORM_AUTHORIZE_PARAMS') ?? '')]
    const reserved = params.find(([name]) => RESERVED.has(name))
    if (reserved)
      return wrong('PLATFORM_AUTHORIZE_PARAMS', `must not set ${reserved[0]}: the flow sets it`, {})
    return Object.fromEntries(params)
  }

  function pkce(): boolean {
    const value = get('PLATFORM_PKCE') ?? 'on'
    return value === 'on' || value === 'off'
      ? value === 'on'
      : wrong('PLATFORM_PKCE', 'must be on or off', true)
  }

  function firstParty(): FirstPartyCredentials | null {
    const names = ['PLATFORM_EMAIL', 'PLATFORM_API_KEY', 'PLATFORM_SUBSCRIPTION_KEY'] as const
    if (!firstPartyOnly && names.every((name) => !get(name))) return null
    const [email, apiKey, subscriptionKey] = names.map((name) =>
      required(name, 'first-party access needs email, API key and subscription key'),
    ) as [string, string, string]
    if (/[^\x21-\x7e]/.test(subscriptionKey))
      wrong('PLATFORM_SUBSCRIPTION_KEY', 'has characters that no key has', '')
    return { email, apiKey, subscriptionKey, tenantId: get('PLATFORM_TENANT_ID') }
  }

  function rateLimit(name: string, usual: string): RateLimit | null {
    const value = get(name) ?? usual
    if (value === 'off') return null
    const [, limit, seconds] = /^([1-9]\d{0,6})\/(\d{1,5}(?:\.\d{1,3})?)$/.exec(value) ?? []
    return Number(seconds) > 0
      ? { limit: Number(limit), windowMs: Number(seconds) * 1000 }
      : wrong(name, 'must be requests/seconds, such as 100/30, or off', null)
  }

  function webhook(): Config['webhook'] {
    const secrets = list('PLATFORM_WEBHOOK_SECRET')
    const header = get('PLATFORM_WEBHOOK_HEADER') ?? WEBHOOK_HEADER
    if (!/^[\w-]{1,100}$/.test(header)) wrong('PLATFORM_WEBHOOK_HEADER', 'must be the name of a header', '')
    if (production && secrets.some((secret) => secret.length < 16 || isSandbox(secret)))
      wrong('PLATFORM_WEBHOOK_SECRET', 'is too weak: 16 characters or more, and not the sandbox’s', '')
    return { secrets, header }
  }

  /** Clients as id:secret; an id that is there twice has two secrets, while one replaces the other. */
  function clients(name: string): Client[] {
    const secrets = new Map<string, string[]>()
    for (const [index, entry] of list(name).entries()) {
      const [, id = '', secret = ''] = /^([\x21-\x39\x3b-\x7e]{1,100}):([\x21-\x7e]+)$/.exec(entry) ?? []
      if (!id) wrong(name, `entry ${index + 1} must be an id, a colon and a secret`, undefined)
      else if (production && (secret.length < 16 || new Set(secret).size < 8 || isSandbox(secret)))
        wrong(
          name,
          `entry ${index + 1} has a weak secret: 16 random characters or more, and not the sandbox’s`,
          undefined,
        )
      else secrets.set(id, [...(secrets.get(id) ?? []), secret])
    }
    return [...secrets].map(([id, known]) => ({ id, secrets: known }))
  }

  function livePricing(): LivePricingConfig {
    const [live, staging] = [clients('LIVE_PRICING_CLIENTS'), clients('LIVE_PRICING_STAGING_CLIENTS')]
    if (livePricingOnly && live.length + staging.length === 0)
      wrong('LIVE_PRICING_CLIENTS', 'is not set: id:secret of who may call', undefined)
    const secretsOf = (list: Client[]) => new Set(list.flatMap(({ secrets }) => secrets))
    if ([...secretsOf(live)].some((secret) => secretsOf(staging).has(secret)))
      wrong('LIVE_PRICING_STAGING_CLIENTS', 'must not have the secrets of LIVE_PRICING_CLIENTS', undefined)
    return {
      clients: { production: live, staging },
      rateLimit: rateLimit('LIVE_PRICING_RATE_LIMIT', '3000/10'),
    }
  }

  function proxies(): number {
    const value = get('TRUSTED_PROXIES') ?? '0'
    return /^\d$/.test(value)
      ? Number(value)
      : wrong('TRUSTED_PROXIES', 'must be the number of proxies in front, from 0 to 9', 0)
  }

  function megabytes(name: string, usual: string): number {
    const value = get(name) ?? usual
    return /^[1-9]\d{0,5}$/.test(value)
      ? Number(value) * 1_000_000
      : wrong(name, 'must be a whole number of megabytes', 0)
  }

  function scopes(): string[] {
    const given = (get('PLATFORM_SCOPES') ?? 'catalogues leads').split(/[\s,]+/)
    // RFC 6749 appendix A.4
    return given.every((scope) => /^[\x21\x23-\x5B\x5D-\x7E]+$/.test(scope))
      ? given
      : wrong('PLATFORM_SCOPES', 'must be scope names, separated by spaces', [])
  }

  if (production && demoSignIn && !withoutPages) {
    problems.push(
      'NODE_ENV is production, but sign-in is still the demo’s: replace src/web/sign-in.ts with yours',
    )
  }
  if (production && !get('BASE_URL') && !firstPartyOnly)
    problems.push('BASE_URL is not set: production needs the public https address')
  const listenPort = port()
  const config: Config = {
    production,
    port: listenPort,
    host: host(),
    demoAllowRemote: flag('DEMO_ALLOW_REMOTE', false),
    proxies: proxies(),
    baseUrl: address('BASE_URL', get('BASE_URL') ?? `http://localhost:${listenPort}`, { path: false }),
    sessionSecrets: sessionSecrets(),
    tokenKeys: tokenKeys(),
    redisUrls: redisUrls(),
    dataDir: get('DATA_DIR') ?? '.data',
    maxPriceFileBytes: megabytes('PRICE_FILE_MAX_MB', '200'),
    uploadQuotaBytes: megabytes('UPLOAD_QUOTA_MB', '1000'),
    webhook: webhook(),
    logLevel: LEVELS.includes(get('LOG_LEVEL') ?? 'info')
      ? (get('LOG_LEVEL') ?? 'info')
      : wrong('LOG_LEVEL', `must be one of ${LEVELS.join(', ')}`, 'info'),
    livePricing: livePricing(),
    platform: {
      appUrl: platformAddress('PLATFORM_APP_URL'),
      authUrl: platformAddress('PLATFORM_AUTH_URL'),
      apiUrl: platformAddress('PLATFORM_API_URL', livePricingOnly ? appOnly : required),
      clientId: appOnly('PLATFORM_CLIENT_ID', 'the platform’s support gives it at registration'),
      clientSecret: appOnly('PLATFORM_CLIENT_SECRET', 'the platform’s support gives it at registration'),
      scopes: scopes(),
      authorizePath: authorizePath(),
      authorizeParams: authorizeParams(),
      pkce: pkce(),
      firstParty: firstParty(),
      rateLimit: rateLimit('PLATFORM_RATE_LIMIT', RATE_LIMIT),
    },
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return config
}

/** Secrets of the sandbox stand in `.env.example`, where everybody can read them. */
const isSandbox = (secret: string) => secret.startsWith('sandbox-')

function isLoopback({ hostname }: URL): boolean {
  return (
    hostname === 'localhost' || hostname === '[::1]' || (isIP(hostname) === 4 && hostname.startsWith('127.'))
  )
}
