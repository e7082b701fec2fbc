/**
 * The settings of the core. Those of a feature are in its own `settings.ts`. Each has a description, from which
 * `npm run docs` writes docs/configuration.md and .env.example.
 */

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

const GENERATED =
  '`npm run keys` prints a new one. Outside production, the app generates one if it is unset, and keeps it in `DATA_DIR`.'
const NEW_SECRETS = '`npm run keys` prints a new one'
const ASK_SUPPORT = "ask the platform's support team"

export const generalSettings = settingsGroup({
  variables: () => ({
    NODE_ENV: z
      .enum(['production', 'development', 'test'], 'must be production, development, test or unset')
      .default('development')
      .meta({
        description:
          '`production`, `development`, or `test`, which has the demo sign-in in place of your own. docs/deploy.md says what `production` requires.',
      }),
    LOG_LEVEL: field
      .oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
      .default('info')
      .meta({ description: '`fatal`, `error`, `warn`, `info`, `debug`, `trace`, or `silent`.' }),
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
    PORT: field
      .wholeNumber({ min: 1, max: 65_535, default: 3000 })
      .meta({ description: 'The port that the app listens on.' }),
    HOST: z.string().optional().meta({
      description: 'The address that the app and the sandbox listen on. Unset: all addresses.',
      example: '127.0.0.1',
    }),
    BASE_URL: baseUrl(env).meta({
      description:
        "The app's public address as browsers see it: an origin, without a path. Unset: `http://localhost` with the port.",
      example: 'https://app.example.com',
    }),
    TRUST_PROXY: field.wholeNumber({ min: 0, max: 9, default: 0 }).meta({
      description:
        'How many reverse proxies are in front of the app. Their `X-Forwarded-*` headers are trusted.',
    }),
    DRAIN_SECONDS: field.wholeNumber({ min: 0, max: 300, default: 0 }).meta({
      description:
        'How long `/health/ready` answers `503` before the app stops, in seconds, for proxies that check it. See docs/deploy.md.',
    }),
    DEMO_ALLOW_REMOTE: field.flag(false).meta({
      description:
        '`true` opens the demo sign-in to other machines, for example in a container, a Codespace or behind a tunnel: everyone who can reach the app can then sign in with any name. See docs/deploy.md.',
    }),
  }),
  build: (values) => ({
    port: values.PORT,
    /** The address to listen on; undefined: all. */
    host: values.HOST,
    /** The app's public origin, without a closing slash. */
    baseUrl: values.BASE_URL ?? `http://localhost:${values.PORT}`,
    /** How many reverse proxies are in front of the app; their `X-Forwarded-*` headers are trusted. */
    trustProxy: values.TRUST_PROXY,
    /** How long the app answers that it is not ready before it closes its port, in ms. */
    drainMs: values.DRAIN_SECONDS * 1000,
    /** Whether the demo's sign-in accepts connections from other machines. */
    demoAllowRemote: values.DEMO_ALLOW_REMOTE,
  }),
})

/** For a program with pages. */
export const sessionSettings = settingsGroup({
  variables: (env) => ({
    SESSION_SECRET: field
      .requiredList(NEW_SECRETS)
      .refine(
        (secrets) => !field.isProduction(env) || !secrets.some((secret) => field.isWeak(secret, 32, 10)),
        `is too weak (use 32 random characters or more; ${NEW_SECRETS})`,
      )
      .meta({
        description: `Signs session cookies. ${GENERATED} Separate several with commas: the first signs, all of them verify.`,
      }),
  }),
  build: (values) => ({
    /** The first signs, all of them verify. */
    sessionSecrets: values.SESSION_SECRET,
  }),
})

/** Sign-in by OpenID Connect; without it, the app has the demo's sign-in or your own. */
export const signInSettings = settingsGroup({
  variables: (env) => {
    const needed = env.OIDC_ISSUER ? field.required('your sign-in service names it') : z.string().optional()
    return {
      // An issuer is compared to the last character (OpenID Connect Discovery 1.0, section 4.3).
      OIDC_ISSUER: field
        .httpAddress({ hint: 'your sign-in service names it', env, parts: ['a path'] })
        .optional()
        .meta({
          description:
            'The issuer of your OpenID Connect provider. Its `/.well-known/openid-configuration` must be reachable. A user is the issuer and the subject (`sub`) together: if you change the issuer, users lose their connections. Unset: the demo sign-in, or your own.',
          example: 'https://login.example.com',
        }),
      OIDC_CLIENT_ID: needed.meta({
        description:
          'The client id of this app there. Required with `OIDC_ISSUER`. The redirect URL is `BASE_URL/sign-in/callback`; for after logout, `BASE_URL/`.',
      }),
      OIDC_CLIENT_SECRET: needed.meta({ description: 'The client secret. Required with `OIDC_ISSUER`.' }),
      OIDC_TOKEN_ENDPOINT_AUTH_METHOD: field
        .oneOf(['client_secret_basic', 'client_secret_post'])
        .optional()
        .meta({
          description:
            "How the app authenticates at the provider's token endpoint: in an `Authorization` header (`client_secret_basic`) or in the body (`client_secret_post`). Unset: as the provider's metadata says, and `client_secret_basic` if it names none or both.",
          example: 'client_secret_basic',
        }),
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
    TOKEN_ENCRYPTION_KEYS: encryptionKeys().meta({
      description: `Encrypt the stored connections. Each is an id, a colon, and 32 bytes in base64. ${GENERATED} Separate several with commas: the first encrypts, all of them decrypt. docs/deploy.md says how to rotate them.`,
    }),
    REDIS_URL: redisUrls(env).meta({
      description:
        'A `redis://` or `rediss://` address, of a server or of a Redis Cluster. Several, separated by commas, are nodes of a cluster, or Sentinels: `redis+sentinel://HOST:PORT/NAME` (`rediss+sentinel://` with TLS), where `NAME` is the name of the master. User and password are those of the Redis servers. Unset: an embedded SQLite file in `DATA_DIR`.',
      example: 'redis://localhost:6379',
    }),
    REDIS_PLAINTEXT: field.flag(false).meta({
      description:
        '`true` allows a plain `redis://` address of another machine in production, on a private network.',
    }),
    DATA_DIR: z.string().default('.data').meta({
      description:
        'The folder for the embedded store and for files. The app creates it, and what it writes there, for its own user only.',
    }),
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
    PLATFORM_API_URL: field.baseAddress({ hint: ASK_SUPPORT, env, parts: ['a path'] }).meta({
      description: "The platform's API. May have a path.",
      example: 'https://api.platform.example',
    }),
    HTTPS_PROXY: proxy(env.https_proxy).meta({
      description:
        'The forward proxy for calls to `https` addresses of the platform. This machine is always reached directly. Unset: that of `HTTP_PROXY`.',
      example: 'http://proxy.internal.example:3128',
    }),
    HTTP_PROXY: proxy(env.http_proxy).meta({
      description: 'The same for `http` addresses. Unset: no proxy.',
      example: 'http://proxy.internal.example:3128',
    }),
    NO_PROXY: field
      .list()
      .transform((hosts) => env.no_proxy?.split(',') ?? hosts)
      .meta({
        description: 'Hosts to reach directly, separated by commas. `.internal.example` includes subdomains.',
        example: '.internal.example',
      }),
  }),
  build: (values) => ({
    apiUrl: values.PLATFORM_API_URL,
    /** The forward proxies for calls to the platform; null: none. */
    proxies: proxiesOf(values.HTTPS_PROXY, values.HTTP_PROXY, values.NO_PROXY),
  }),
})

/** For a program that connects users' accounts. */
export const oauthSettings = settingsGroup({
  variables: (env) => ({
    PLATFORM_APP_URL: field.baseAddress({ hint: ASK_SUPPORT, env, parts: ['a path'] }).meta({
      description: "The platform's web application, where `oauth2.html` is. May have a path.",
      example: 'https://app.platform.example',
    }),
    PLATFORM_AUTH_URL: field.baseAddress({ hint: ASK_SUPPORT, env, parts: ['a path'] }).meta({
      description: "The platform's identity provider, and the expected issuer. May have a path.",
      example: 'https://identity.platform.example',
    }),
    PLATFORM_CLIENT_ID: field
      .required(ASK_SUPPORT)
      .meta({ description: 'The client id of your app.', sandbox: 'sandbox-client' }),
    PLATFORM_CLIENT_SECRET: field
      .required(ASK_SUPPORT)
      .refine(
        (secret) => !field.isProduction(env) || !field.isSandboxSecret(secret),
        `is the sandbox's (${ASK_SUPPORT})`,
      )
      .meta({ description: 'The client secret of your app.', sandbox: 'sandbox-client-secret' }),
    PLATFORM_SCOPES: scopes().meta({
      description:
        'The scopes that the app asks every user for, separated by spaces. Add `offline_access` if the platform issues refresh tokens only for it. Unset: those that the features need, or those that the platform documents if no feature needs any.',
      example: platform.scopes.join(' '),
    }),
    PLATFORM_AUTHORIZE_PATH: field
      .pattern(/^\/[\w\-./~%]*$/, 'must be a path that starts with /')
      .default(platform.authorizePath)
      .meta({ description: 'The path of the consent page below `PLATFORM_AUTH_URL`.' }),
    PLATFORM_AUTHORIZE_PARAMS: authorizeParams().meta({
      description:
        'Further parameters of the consent URL, as a query string. A name may come twice, such as `resource`. They cannot replace the parameters of the flow.',
      example: 'audience=https://api.platform.example',
    }),
    PLATFORM_PKCE: field.flag(true).meta({ description: 'Whether to send a PKCE challenge.' }),
    PLATFORM_TOKEN_ENDPOINT_AUTH_METHOD: field
      .oneOf(['client_secret_post', 'client_secret_basic'])
      .default('client_secret_post')
      .meta({
        description:
          'How token requests carry the client id and the secret: in the body (`client_secret_post`) or in an `Authorization` header (`client_secret_basic`).',
      }),
    // RFC 7009 section 2: it may have a query.
    PLATFORM_REVOCATION_URL: field
      .httpAddress({ hint: '', env, parts: ['a path', 'a query'] })
      .optional()
      .meta({
        description:
          "The platform's revocation endpoint (RFC 7009), used as it is typed: a closing slash and a query count. If it is set, Disconnect also ends the consent on the platform.",
      }),
    PLATFORM_CONNECTED_APPS_URL: field
      .httpAddress({ hint: '', env, parts: ['a path', 'a query', 'a #'] })
      .optional()
      .meta({
        description:
          "The platform's page where users withdraw a consent; it may have a query and a `#` (in `.env`, put it in quotes then). Disconnect links to it if the consent remains.",
      }),
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
    connectedAppsUrl: values.PLATFORM_CONNECTED_APPS_URL,
  }),
})

/** Where the sandbox is. */
export const sandboxAddressSettings = settingsGroup({
  variables: (env) => ({
    SANDBOX_PORT: field
      .wholeNumber({ min: 1, max: 65_535, default: 4400 })
      .meta({ description: 'The port that the sandbox listens on.', sandbox: '4400' }),
    SANDBOX_URL: field
      .baseAddress({ hint: '', env, parts: [] })
      .optional()
      .refine((url) => url === undefined || !field.isProduction(env), 'must not be set in production')
      .meta({
        description:
          "The sandbox's address as browsers and the app see it. If it is set for the app, its pages link to the sandbox. Must not be set in production. Unset: `http://localhost` with the sandbox's port.",
        example: 'https://sandbox.example.com',
      }),
  }),
  build: (values) => ({
    port: values.SANDBOX_PORT,
    /** Undefined: `http://localhost` with the port, or the platform is not the sandbox. */
    url: values.SANDBOX_URL,
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
  sandbox: sandboxAddressSettings,
}

type Core = SettingsOf<typeof coreSettings>
export type StoreConfig = Core['store']

export type Config = Core['general'] &
  Core['server'] &
  Core['session'] &
  Core['signIn'] &
  Core['store'] & {
    platform: Core['api'] &
      Omit<Core['oauth'], 'scopes'> & {
        scopes: readonly string[]
        /** The sandbox's address, if the platform is the sandbox: pages link to it. */
        sandboxUrl: string | undefined
      }
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
  const { general, server, session, signIn, store, api, oauth, sandbox, ...rest } = readSettings(env, {
    ...coreSettings,
    ...rule,
    features,
  })
  const connectedApps = sandbox.url === undefined ? undefined : `${sandbox.url}/connected-apps`
  const client = {
    ...oauth,
    ...api,
    scopes: oauth.scopes ?? scopes,
    connectedAppsUrl: oauth.connectedAppsUrl ?? connectedApps,
    sandboxUrl: sandbox.url,
  }
  return { ...general, ...server, ...session, ...signIn, ...store, platform: client, features: rest.features }
}

/** Names that belong in `.env` and are not the app's: of Node, OpenTelemetry, and Docker Compose. */
const OF_OTHERS = /^((NODE|OTEL|COMPOSE|DOCKER)_\w+|TZ|NO_COLOR|FORCE_COLOR|UV_THREADPOOL_SIZE|HOST_NAME)$/
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

/** The address of a forward proxy. As in other programs, the variable in lower case comes first. */
const proxy = (lowerCase: string | undefined) =>
  z
    .string()
    .optional()
    .transform((address) => lowerCase ?? address)
    .refine(
      (address = 'http:') => /^https?:(?!.*%(?![\dA-Fa-f]{2}))/i.test(address),
      'must be an http or https address, with %25 for a % in the user name or password',
    )

/** This machine is never reached through a proxy: the sandbox runs here. */
const proxiesOf = (httpsProxy: string | undefined, httpProxy: string | undefined, noProxy: string[]) =>
  httpsProxy || httpProxy
    ? { httpsProxy, httpProxy, noProxy: [...noProxy, 'localhost', '127.0.0.1', '::1'].join(',') }
    : null

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
