/** The settings of the core. Those of a feature are in its own `settings.ts`. */

import { isIP } from 'node:net'
import * as z from 'zod'
import { type EncryptionKey, platform } from './connect/index.ts'
import { isSentinelUrl } from './connect/stores.ts'
import * as field from './settings/fields.ts'
import {
  type Environment,
  readSettings,
  type SettingsGroup,
  type SettingsOf,
  settingsGroup,
} from './settings/read.ts'

const NEW_SECRETS = '`npm run keys` prints a new one'
const ASK_SUPPORT = "ask the platform's support team"

export const generalSettings = settingsGroup({
  variables: () => ({
    NODE_ENV: z
      .enum(['production', 'development', 'test'], 'must be production, development, test or unset')
      .default('development'),
    LOG_LEVEL: field.oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  }),
  build: (values) => ({
    production: values.NODE_ENV === 'production',
    /** Whether this is a test, which signs in by the demo's sign-in, whatever the product's is. */
    test: values.NODE_ENV === 'test',
    logLevel: values.LOG_LEVEL,
  }),
})

/** For a program that listens. */
export const serverSettings = settingsGroup({
  variables: (env) => ({
    PORT: field.wholeNumber({ min: 1, max: 65_535, default: 3000 }),
    HOST: z
      .string()
      .refine(isHost, 'must be an IP address or a host name, such as 127.0.0.1 or 0.0.0.0')
      .optional(),
    BASE_URL: baseUrl(env),
    TRUST_PROXY: field.wholeNumber({ min: 0, max: 9, default: 0 }),
    KEEP_ALIVE_SECONDS: field.wholeNumber({ min: 1, max: 3_600, default: 75 }),
    DRAIN_SECONDS: field.wholeNumber({ min: 0, max: 300, default: 0 }),
    DEMO_ALLOW_REMOTE: field.flag(false),
  }),
  build: (values) => ({
    port: values.PORT,
    /** The address to listen on; undefined: all. */
    host: values.HOST,
    /** The app's public origin, without a closing slash. */
    baseUrl: values.BASE_URL ?? `http://localhost:${values.PORT}`,
    /** How many reverse proxies are in front of the app; their `X-Forwarded-*` headers are trusted. */
    trustProxy: values.TRUST_PROXY,
    /** How long an idle connection stays open, in ms. */
    keepAliveMs: values.KEEP_ALIVE_SECONDS * 1000,
    /** How long the app answers that it is not ready before it closes its port, in ms. */
    drainMs: values.DRAIN_SECONDS * 1000,
    /** Whether the demo's sign-in accepts connections from other machines. */
    demoAllowRemote: values.DEMO_ALLOW_REMOTE,
  }),
})

/** For a program with pages. */
const sessionSettings = settingsGroup({
  variables: (env) => ({
    SESSION_SECRET: field
      .requiredList(NEW_SECRETS)
      .refine(
        (secrets) => !field.isProduction(env) || !secrets.some((secret) => field.isWeak(secret, 32, 10)),
        `is too weak (use 32 random characters or more; ${NEW_SECRETS})`,
      ),
  }),
  build: (values) => ({
    /** The first signs, all of them verify. */
    sessionSecrets: values.SESSION_SECRET,
  }),
})

/** Sign-in by OpenID Connect; without it, the app has the demo's sign-in or your own. */
const signInSettings = settingsGroup({
  variables: (env) => {
    const needed = env.OIDC_ISSUER ? field.required('your sign-in service names it') : z.string().optional()
    return {
      // An issuer is compared to the last character (OpenID Connect Discovery 1.0, section 4.3).
      OIDC_ISSUER: field
        .httpAddress({ hint: 'your sign-in service names it', env, parts: ['a path'] })
        .optional(),
      OIDC_CLIENT_ID: needed,
      OIDC_CLIENT_SECRET: needed,
      OIDC_TOKEN_ENDPOINT_AUTH_METHOD: field.oneOf(['client_secret_basic', 'client_secret_post']).optional(),
    }
  },
  build: ({ OIDC_ISSUER: issuer, OIDC_CLIENT_ID = '', OIDC_CLIENT_SECRET = '', ...values }) => ({
    oidc:
      issuer === undefined
        ? null
        : {
            issuer,
            clientId: OIDC_CLIENT_ID,
            clientSecret: OIDC_CLIENT_SECRET,
            tokenEndpointAuthMethod: values.OIDC_TOKEN_ENDPOINT_AUTH_METHOD,
          },
  }),
})

/** Refuses to start in production with the demo's sign-in. */
const demoSignInRule = settingsGroup({
  variables: (env) => ({
    NODE_ENV: z
      .string()
      .optional()
      .refine(
        () => !field.isProduction(env),
        "is production, but the app has the demo's sign-in: set OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET, or add your own in src/web/sign-in.ts",
      ),
  }),
  build: () => null,
})

export const storeSettings = settingsGroup({
  variables: (env) => ({
    TOKEN_ENCRYPTION_KEYS: encryptionKeys(),
    REDIS_URL: redisUrls(env),
    REDIS_PLAINTEXT: field.flag(false),
    DATA_DIR: z.string().default('.data'),
  }),
  build: (values) => ({
    /** The first encrypts, all of them decrypt. */
    tokenEncryptionKeys: values.TOKEN_ENCRYPTION_KEYS,
    /** Empty: the embedded SQLite in `dataDir`. Several: nodes of a cluster, or Sentinels. */
    redisUrls: values.REDIS_URL,
    dataDir: values.DATA_DIR,
  }),
})

/** For a program that calls the platform's API. */
export const apiSettings = settingsGroup({
  variables: (env) => ({
    PLATFORM_API_URL: field.baseAddress({ hint: ASK_SUPPORT, env, parts: ['a path'] }),
    HTTPS_PROXY: proxy(env.https_proxy),
    HTTP_PROXY: proxy(env.http_proxy),
    NO_PROXY: field.list().transform((hosts) => env.no_proxy?.split(',') ?? hosts),
  }),
  build: (values) => ({
    apiUrl: values.PLATFORM_API_URL,
    /** The forward proxies for calls to the platform; null: none. */
    proxies: proxiesOf(values.HTTPS_PROXY, values.HTTP_PROXY, values.NO_PROXY),
  }),
})

/** For a program that connects users' accounts. */
const oauthSettings = settingsGroup({
  variables: (env) => ({
    PLATFORM_APP_URL: field.baseAddress({ hint: ASK_SUPPORT, env, parts: ['a path'] }),
    PLATFORM_AUTH_URL: field.baseAddress({ hint: ASK_SUPPORT, env, parts: ['a path'] }),
    PLATFORM_CLIENT_ID: field.required(ASK_SUPPORT),
    PLATFORM_CLIENT_SECRET: field
      .required(ASK_SUPPORT)
      .refine(
        (secret) => !field.isProduction(env) || !field.isSandboxSecret(secret),
        `is the sandbox's (${ASK_SUPPORT})`,
      ),
    PLATFORM_SCOPES: scopes(),
    PLATFORM_AUTHORIZE_PATH: field
      .pattern(/^\/[\w\-./~%]*$/, 'must be a path that starts with /')
      .default(platform.authorizePath),
    PLATFORM_AUTHORIZE_PARAMS: authorizeParams(),
    PLATFORM_PKCE: field.flag(true),
    PLATFORM_TOKEN_ENDPOINT_AUTH_METHOD: field
      .oneOf(['client_secret_post', 'client_secret_basic'])
      .default('client_secret_post'),
    // RFC 7009 section 2: it may have a query.
    PLATFORM_REVOCATION_URL: field.httpAddress({ hint: '', env, parts: ['a path', 'a query'] }).optional(),
    PLATFORM_CONNECTED_APPS_URL: field
      .httpAddress({ hint: '', env, parts: ['a path', 'a query', 'a #'] })
      .optional(),
    SANDBOX_URL: sandboxUrl(env),
  }),
  build: (values) => ({
    appUrl: values.PLATFORM_APP_URL,
    authUrl: values.PLATFORM_AUTH_URL,
    clientId: values.PLATFORM_CLIENT_ID,
    clientSecret: values.PLATFORM_CLIENT_SECRET,
    /** Undefined: those that the platform documents and the features need. */
    scopes: values.PLATFORM_SCOPES,
    authorizePath: values.PLATFORM_AUTHORIZE_PATH,
    /** Parameters that the authorization URL has in addition to those of the flow. */
    authorizeParams: values.PLATFORM_AUTHORIZE_PARAMS,
    pkce: values.PLATFORM_PKCE,
    tokenEndpointAuthMethod: values.PLATFORM_TOKEN_ENDPOINT_AUTH_METHOD,
    /** The platform's revocation endpoint (RFC 7009); undefined: it has none. */
    revocationUrl: values.PLATFORM_REVOCATION_URL,
    /** The platform's page where users withdraw a consent. */
    connectedAppsUrl:
      values.PLATFORM_CONNECTED_APPS_URL ??
      (values.SANDBOX_URL === undefined ? undefined : `${values.SANDBOX_URL}/connected-apps`),
    /** The sandbox's address, if the platform is the sandbox: pages link to it. */
    sandboxUrl: values.SANDBOX_URL,
  }),
})

/** Every group of the core. A program that needs less reads some of them, with `readSettings`. */
export const coreSettings = {
  general: generalSettings,
  server: serverSettings,
  session: sessionSettings,
  signIn: signInSettings,
  store: storeSettings,
  api: apiSettings,
  oauth: oauthSettings,
}

type Core = SettingsOf<typeof coreSettings>
export type StoreConfig = Core['store']

export type Config = Core['general'] &
  Core['server'] &
  Core['session'] &
  Core['signIn'] &
  Core['store'] & {
    platform: Core['api'] & Omit<Core['oauth'], 'scopes'> & { scopes: readonly string[] }
    /** The settings of each feature, by the feature's name. */
    features: Readonly<Record<string, unknown>>
  }

export interface ReadOptions {
  /** Whether the sign-in is your own: the demo's must not run in production. */
  hasOwnSignIn: boolean
  /** The settings of the features, by the feature's name. */
  features?: Readonly<Record<string, SettingsGroup<unknown>>>
  /** The scopes to ask for if `PLATFORM_SCOPES` is not set. */
  scopes?: readonly string[]
}

/** Reads the settings of the whole app: the core's and the features'. Throws a `ConfigError` with every problem. */
export function readConfig(
  env: Environment,
  { hasOwnSignIn, features = {}, scopes = [] }: ReadOptions,
): Config {
  const rule = hasOwnSignIn || env.OIDC_ISSUER ? {} : { demoSignIn: demoSignInRule }
  const { general, server, session, signIn, store, api, oauth, ...rest } = readSettings(env, {
    ...coreSettings,
    ...rule,
    features,
  })
  const client = { ...oauth, ...api, scopes: oauth.scopes ?? scopes }
  return { ...general, ...server, ...session, ...signIn, ...store, platform: client, features: rest.features }
}

/** Names that belong in `.env` and are not the app's: of Node, OpenTelemetry, Docker Compose, and the sandbox. */
const OF_OTHERS =
  /^((NODE|OTEL|COMPOSE|DOCKER)_\w+|TZ|NO_COLOR|FORCE_COLOR|UV_THREADPOOL_SIZE|HOST_NAME|SANDBOX_PORT)$/
/** If a value goes on in the next line, `.env` has a part of a secret in place of a name, which must not be printed. */
const A_NAME = /^[A-Z][A-Z\d_]{0,39}$/

/**
 * The variables that look like settings and are none, such as a misspelled `PLATFORM_SCOPE`: any name in `.env`, and those of
 * the environment that begin with `PLATFORM_` or `OIDC_`.
 */
export function unknownSettings(
  env: Environment,
  features: Readonly<Record<string, SettingsGroup<unknown>>> = {},
  namesInEnvFile: readonly string[] = [],
): string[] {
  const groups: SettingsGroup<unknown>[] = [...Object.values(coreSettings), ...Object.values(features)]
  const known = new Set(groups.flatMap((group) => Object.keys(group.variables({}))))
  const names = [
    ...namesInEnvFile.filter((name) => A_NAME.test(name) && !OF_OTHERS.test(name)),
    ...Object.keys(env).filter((name) => /^(PLATFORM|OIDC)_/.test(name)),
  ]
  return [...new Set(names)].filter((name) => !known.has(name))
}

function baseUrl(env: Environment) {
  const address = field.baseAddress({ hint: 'production needs the public https address', env, parts: [] })
  return field.isProduction(env) ? address : address.optional()
}

const sandboxUrl = (env: Environment) =>
  field
    .baseAddress({ hint: '', env, parts: [] })
    .optional()
    .refine((url) => url === undefined || !field.isProduction(env), 'must not be set in production')

/** The address of a forward proxy. As in other programs, the variable in lower case comes first. */
const proxy = (lowerCase: string | undefined) =>
  z
    .string()
    .optional()
    .transform((address) => lowerCase ?? address)
    .refine(
      (address) => address === undefined || /^https?:$/.test(URL.parse(address)?.protocol ?? ''),
      'must be an http or https address',
    )
    .refine(
      (address) => !/%(?![\dA-Fa-f]{2})/.test(address ?? ''),
      'has a % that begins no encoded character: write %25 for a % in the user name or password',
    )

/** This machine is never reached through a proxy: the sandbox runs here. */
const proxiesOf = (httpsProxy: string | undefined, httpProxy: string | undefined, noProxy: string[]) =>
  httpsProxy || httpProxy
    ? { httpsProxy, httpProxy, noProxy: [...noProxy, 'localhost', '127.0.0.1', '::1'].join(',') }
    : null

const isHost = (value: string) => isIP(value) !== 0 || /^[A-Za-z\d]([A-Za-z\d.-]*[A-Za-z\d])?$/.test(value)

function encryptionKeys() {
  return field
    .requiredList(NEW_SECRETS)
    .transform((entries, ctx) =>
      entries.map((entry, index) => encryptionKey(entry, index + 1, (rule) => ctx.addIssue(rule))),
    )
    .refine((keys) => new Set(keys.map(({ id }) => id)).size === keys.length, 'has the same id twice')
}

function encryptionKey(entry: string, number: number, report: (rule: string) => void): EncryptionKey {
  const [, id = '', base64 = ''] = /^([\w-]{1,32}):([A-Za-z0-9+/]{43}=)$/.exec(entry) ?? []
  const secret = Buffer.from(base64, 'base64')
  if (secret.length !== 32) report(`entry ${number} must be an id, a colon and 32 bytes in base64`)
  else if (new Set(secret).size < 8) report(`entry ${number} is too weak: its bytes are not random`)
  return { id, secret }
}

function redisUrls(env: Environment) {
  const plainAllowed = !field.isProduction(env) || env.REDIS_PLAINTEXT === 'true'
  return field
    .list()
    .refine((urls) => urls.every(isRedisUrl), {
      error:
        'must be redis:// or rediss:// addresses, separated by commas, whose path can only be the number of a database; or redis+sentinel://HOST:PORT/NAME with the name of the master',
      abort: true,
    })
    .refine((urls) => new Set(urls.map(isSentinelUrl)).size < 2, {
      error: 'must have redis+sentinel:// addresses only, or none',
      abort: true,
    })
    .refine(
      (urls) => plainAllowed || urls.map((url) => new URL(url)).every(isPrivate),
      'must be rediss:// in production, or a Redis on this machine; on a private network set REDIS_PLAINTEXT=true',
    )
}

function isRedisUrl(text: string): boolean {
  const url = URL.parse(text)
  if (url === null) return false
  return isSentinelUrl(text)
    ? url.host !== '' && /^\/[\w.-]+$/.test(url.pathname)
    : /^rediss?:$/.test(url.protocol) && /^\/?\d*$/.test(url.pathname)
}

const isPrivate = (url: URL) => url.protocol.startsWith('rediss') || field.isLoopback(url)

/** The names of scopes are those of RFC 6749, appendix A.4. */
export const scopes = () =>
  z
    .string()
    .transform((text) => text.split(/[\s,]+/))
    .refine(
      (names) => names.every((name) => /^[\x21\x23-\x5B\x5D-\x7E]+$/.test(name)),
      'must be names of scopes, separated by spaces',
    )
    .optional()

/** Parameters of the authorization URL that the flow itself sets. */
const RESERVED = [
  ...'response_type client_id redirect_uri scope state code_challenge code_challenge_method'.split(' '),
  platform.bxcontextParameter,
]

const authorizeParams = () =>
  z
    .string()
    .default('')
    .transform((text, ctx): URLSearchParams => {
      const params = new URLSearchParams(text)
      const reserved = RESERVED.find((name) => params.has(name))
      if (reserved) ctx.addIssue(`must not set ${reserved}: the flow sets it`)
      return params
    })
