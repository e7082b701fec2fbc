/**
 * The settings of the core. A feature's settings are in its own `settings.ts`. `npm run docs` writes the descriptions of all settings
 * to .env.example and docs/configuration.md, or for a feature of a group to docs/GROUP/configuration.md.
 */

import { isUtf8 } from 'node:buffer'
import { statSync } from 'node:fs'
import * as z from 'zod'
import { type EncryptionKey, flowParameterNames, platform } from '../connect/index.ts'
import { isSentinelUrl } from '../connect/stores.ts'
import * as field from './fields.ts'
import { type Environment, readSettings, type SettingsGroup, variablesOf } from './read.ts'

const GENERATED =
  '`npm run generate-secrets` prints a new value. Outside production, the app generates a value if none is set, and keeps it in `DATA_DIR`.'
const NEW_SECRETS = '`npm run generate-secrets` prints a new one'
const ASK_SUPPORT = "ask the platform's support team"

export const generalSettings = () =>
  z.object({
    /** `test` uses the demo's sign-in, even if the product has its own. */
    environment: z
      .enum(['production', 'development', 'test'], 'must be production, development, test or unset')
      .default('development')
      .meta({
        variable: 'NODE_ENV',
        description:
          '`production`, `development`, or `test`, which replaces your own sign-in by that of the demo. See docs/deploy.md for the requirements of `production`.',
      }),
    logLevel: field
      .oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
      .default('info')
      .meta({
        variable: 'LOG_LEVEL',
        description: '`fatal`, `error`, `warn`, `info`, `debug`, `trace`, or `silent`.',
      }),
  })

/** For a program that listens. */
export const serverSettings = (env: Environment) =>
  z.object({
    port: field
      .wholeNumber({ min: 1, max: 65_535, default: 3000 })
      .meta({ variable: 'PORT', description: 'The port that the app listens on.' }),
    host: z.string().optional().meta({
      variable: 'HOST',
      description: 'The address that the app and the sandbox listen on. Unset: all addresses.',
      example: '127.0.0.1',
    }),
    /** Without a closing slash. */
    baseUrl: baseUrl(env).meta({
      variable: 'BASE_URL',
      description:
        "The app's public address as browsers see it: an origin, without a path. Unset: `http://localhost` with the port, or its address in a GitHub Codespace.",
      example: 'https://app.example.com',
    }),
    // A GitHub Codespace has a proxy in front of each port.
    trustProxy: field.wholeNumber({ min: 0, max: 9, default: env.CODESPACE_NAME ? 1 : 0 }).meta({
      variable: 'TRUST_PROXY',
      description:
        'How many reverse proxies are in front of the app. Their `X-Forwarded-*` headers are trusted.',
    }),
    shutdownDelayMs: field
      .wholeNumber({ min: 0, max: 300, default: 0 })
      .transform((seconds) => seconds * 1000)
      .meta({
        variable: 'SHUTDOWN_DELAY_SECONDS',
        description:
          'How long `/health/ready` answers `503` before the app stops, in seconds, for proxies that check it. See docs/deploy.md.',
      }),
    demoAllowRemote: field.flag(env.CODESPACE_NAME !== undefined).meta({
      variable: 'DEMO_ALLOW_REMOTE',
      description:
        '`true` opens the demo sign-in to other machines, for example in a container or behind a tunnel: everyone who can reach the app can then sign in with any name. In a GitHub Codespace, the default is `true`: only its owner reaches its private ports. See docs/sandbox.md.',
    }),
  })

/** For a program with pages. */
export const sessionSettings = (env: Environment) =>
  z.object({
    sessionSecrets: field
      .requiredList(NEW_SECRETS)
      .refine(
        (secrets) => !field.isProduction(env) || !secrets.some((secret) => field.isWeak(secret, 32, 10)),
        `is too weak (use 32 random characters or more; ${NEW_SECRETS})`,
      )
      .refine(
        (secrets) =>
          !secrets.some((secret) => secret.length > 31 && env.TOKEN_ENCRYPTION_KEYS?.includes(secret)),
        `is one of TOKEN_ENCRYPTION_KEYS: use each secret for one purpose (${NEW_SECRETS})`,
      )
      .meta({
        variable: 'SESSION_SECRET',
        description: `Signs session cookies. ${GENERATED} Separate several with commas: the first signs, all of them verify.`,
      }),
  })

/** Sign-in with OpenID Connect; null: the app uses the demo's sign-in or your own. */
export function oidcSettings(env: Environment) {
  const hint = 'your sign-in service names it'
  const needed = env.OIDC_ISSUER ? field.required(hint) : z.string().default('')
  return z
    .object({
      // Every character of an issuer matters, even a closing slash (OpenID Connect Discovery 1.0, section 4.3).
      issuer: field
        .httpAddress({ hint, env, parts: ['a path'] })
        .optional()
        .meta({
          variable: 'OIDC_ISSUER',
          description:
            'The issuer of your OpenID Connect provider. Its `/.well-known/openid-configuration` must be reachable. A user is the issuer and the subject (`sub`) together: if you change the issuer, users lose their connections. Unset: the demo sign-in, or your own.',
          example: 'https://login.example.com',
        }),
      clientId: field.ofClient(needed).meta({
        variable: 'OIDC_CLIENT_ID',
        description:
          'The client id of this app at the provider. Required with `OIDC_ISSUER`. Register `BASE_URL/sign-in/callback` as the redirect URL, and `BASE_URL/` as the address to return to after logout.',
      }),
      clientSecret: field.ofClient(needed).meta({
        variable: 'OIDC_CLIENT_SECRET',
        description: 'The client secret. Required with `OIDC_ISSUER`.',
      }),
      trustsEmail: field.flag(false).meta({
        variable: 'OIDC_TRUSTS_EMAIL',
        description:
          '`true` also sends emails to an address of which the provider does not say whether it is verified (`email_verified`). Set it only if your users cannot change their address at the provider themselves.',
      }),
    })
    .transform(({ issuer, ...client }) => (issuer === undefined ? null : { issuer, ...client }))
}

/** Refuses to start with two kinds of sign-in, and in production with the demo's sign-in. */
function signInRule(env: Environment, hasOwn: boolean): z.ZodType {
  if (hasOwn)
    return z
      .undefined(
        'is set, but users sign in by OWN_SIGN_IN in src/web/sign-in/sign-in.ts: remove OIDC_ISSUER, or set OWN_SIGN_IN to null',
      )
      .meta({ variable: 'OIDC_ISSUER' })
  return z
    .string()
    .optional()
    .refine(
      () => !field.isProduction(env) || env.OIDC_ISSUER,
      "is production, but the app has the demo's sign-in: set OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET, or add your own in src/web/sign-in/sign-in.ts",
    )
    .meta({ variable: 'NODE_ENV' })
}

/** Refuses to start in production if certificates are not checked. */
const certificatesRule = (env: Environment) =>
  z
    .string()
    .optional()
    .refine(
      (value) => !field.isProduction(env) || value !== '0',
      'is 0, so anyone on the way could read tokens: remove it, and name the certificate of your own authority in NODE_EXTRA_CA_CERTS',
    )
    .meta({ variable: 'NODE_TLS_REJECT_UNAUTHORIZED' })

export const storeSettings = (env: Environment) =>
  z.object({
    tokenEncryptionKeys: encryptionKeys().meta({
      variable: 'TOKEN_ENCRYPTION_KEYS',
      description: `Encrypt the stored connections. Each is an id, a colon, and 32 bytes in base64. ${GENERATED} Separate several with commas: the first encrypts, all of them decrypt. docs/operations.md shows how to rotate them.`,
    }),
    redisUrls: redisUrls(env).meta({
      variable: 'REDIS_URL',
      description:
        'A `redis://` or `rediss://` address, of a server or of a Redis Cluster. Several, separated by commas, are nodes of a cluster, or Sentinels: `redis+sentinel://HOST:PORT/NAME` (`rediss+sentinel://` with TLS), where `NAME` is the name of the master. User and password are those of the Redis servers. Unset: an embedded SQLite file in `DATA_DIR`.',
      example: 'redis://localhost:6379',
    }),
    redisAllowInsecure: field.flag(false).meta({
      variable: 'REDIS_ALLOW_INSECURE',
      description:
        '`true` allows a plain `redis://` address of another machine in production, on a private network.',
    }),
    dataDir: z.string().default('.data').refine(isNoFile, 'is a file: name a folder').meta({
      variable: 'DATA_DIR',
      description:
        'The folder for the embedded store and for files. The app creates it, and what it writes there, for its own user only. `npm run demo` uses `.demo` instead, so that it never changes the data of your app.',
    }),
  })

const isNoFile = (path: string) => !statSync(path, { throwIfNoEntry: false })?.isFile()

/** For a program that calls the platform's API. */
export const apiSettings = (env: Environment) =>
  z.object({
    apiUrl: field.baseAddress({ hint: ASK_SUPPORT, env, parts: ['a path'] }).meta({
      variable: 'PLATFORM_API_URL',
      description: "The platform's API. May have a path.",
      example: 'https://api.platform.example',
    }),
    internalUrls: field.originPairs(env).meta({
      variable: 'PLATFORM_INTERNAL_URLS',
      description:
        'Where this server reaches the platform and the identity provider of the sign-in, if that is not where browsers do: pairs `PUBLIC=INTERNAL` of origins, separated by commas. Requests, with their tokens and secrets, go to the internal one. Redirects and the issuer (`iss`) keep the public one.',
      example: 'https://identity.platform.example=https://identity.internal.example:8443',
    }),
    proxies: proxies(env),
  })

/** The forward proxies for calls to the platform and the sign-in's provider. Null: a direct connection. */
const proxies = (env: Environment) =>
  z
    .object({
      httpsProxy: proxy(env.https_proxy).meta({
        variable: 'HTTPS_PROXY',
        description:
          'The forward proxy for calls to `https` addresses of the platform and the identity provider. This machine is always reached directly. Unset: that of `HTTP_PROXY`.',
        example: 'http://proxy.internal.example:3128',
      }),
      httpProxy: proxy(env.http_proxy).meta({
        variable: 'HTTP_PROXY',
        description:
          'The forward proxy for calls to `http` addresses of the platform and the identity provider, and to `https` addresses if `HTTPS_PROXY` is unset. Unset: no proxy for `http` addresses.',
        example: 'http://proxy.internal.example:3128',
      }),
      noProxy: field
        .list()
        // Local addresses, because the sandbox runs on this machine.
        .transform((hosts) => [env.no_proxy ?? hosts, 'localhost', '127.0.0.1', '::1'].join(','))
        .meta({
          variable: 'NO_PROXY',
          description:
            'Hosts to reach directly, separated by commas. `.internal.example` includes subdomains.',
          example: '.internal.example',
        }),
    })
    .transform((all) => (all.httpsProxy || all.httpProxy ? all : null))

/** For a program that connects users' accounts. */
export const oauthSettings = (env: Environment) => z.object({ ...registration(env), ...protocol(env) })

/** This app's registration with the platform. */
const registration = (env: Environment) => ({
  appUrl: field.baseAddress({ hint: ASK_SUPPORT, env, parts: ['a path'] }).meta({
    variable: 'PLATFORM_APP_URL',
    description: "The platform's web application, where `oauth2.html` is. May have a path.",
    example: 'https://app.platform.example',
  }),
  authUrl: field.baseAddress({ hint: ASK_SUPPORT, env, parts: ['a path'] }).meta({
    variable: 'PLATFORM_AUTH_URL',
    description: "The platform's identity provider, and the expected issuer. May have a path.",
    example: 'https://identity.platform.example',
  }),
  clientId: field.ofClient(field.required(ASK_SUPPORT)).meta({
    variable: 'PLATFORM_CLIENT_ID',
    description: 'The client id of your app.',
    sandbox: 'sandbox-client',
  }),
  clientSecret: field
    .ofClient(field.required(ASK_SUPPORT))
    .refine(
      (secret) => !field.isProduction(env) || !field.isSandboxSecret(secret),
      `is the sandbox's (${ASK_SUPPORT})`,
    )
    .meta({
      variable: 'PLATFORM_CLIENT_SECRET',
      description: 'The client secret of your app.',
      sandbox: 'sandbox-client-secret',
    }),
  scopes: scopes().meta({
    variable: 'PLATFORM_SCOPES',
    description:
      'The scopes that the app asks every user for, separated by spaces. Add `offline_access` if the platform issues refresh tokens only for it. Unset: those that the features need, or those that the platform documents if no feature needs any.',
  }),
})

/** How the platform's endpoints are used. */
const protocol = (env: Environment) => ({
  authorizePath: field
    .pattern(/^\/[\w\-./~%]*$/, 'must be a path that starts with /')
    .default(platform.authorizePath)
    .meta({
      variable: 'PLATFORM_AUTHORIZE_PATH',
      description: 'The path of the consent page below `PLATFORM_AUTH_URL`.',
    }),
  authorizeParams: authorizeParams().meta({
    variable: 'PLATFORM_AUTHORIZE_PARAMS',
    description:
      'Further parameters of the consent URL, as a query string. A name may come twice, such as `resource`. They cannot replace the parameters of the flow.',
    example: 'audience=https://api.platform.example',
  }),
  pkce: field
    .flag(true)
    .meta({ variable: 'PLATFORM_PKCE', description: 'Whether to send a PKCE challenge.' }),
  tokenEndpointAuthMethod: field
    .oneOf(['client_secret_post', 'client_secret_basic'])
    .default('client_secret_post')
    .meta({
      variable: 'PLATFORM_TOKEN_ENDPOINT_AUTH_METHOD',
      description:
        'How token requests carry the client id and the secret: in the body (`client_secret_post`) or in an `Authorization` header (`client_secret_basic`).',
    }),
  // It may have a query (RFC 7009 section 2).
  revocationUrl: field
    .httpAddress({ hint: '', env, parts: ['a path', 'a query'] })
    .optional()
    .meta({
      variable: 'PLATFORM_REVOCATION_URL',
      description:
        "The platform's revocation endpoint (RFC 7009), used as it is typed: a closing slash and a query count. If it is set, Disconnect also ends the consent on the platform.",
    }),
  connectedAppsUrl: field
    .httpAddress({ hint: '', env, parts: ['a path', 'a query', 'a #'] })
    .optional()
    .meta({
      variable: 'PLATFORM_CONNECTED_APPS_URL',
      description:
        "The platform's page where users withdraw a consent; it may have a query and a `#` (in `.env`, put it in quotes then). Disconnect links to it if the consent remains.",
    }),
})

/** Where the sandbox is. */
export const sandboxAddressSettings = (env: Environment) =>
  z.object({
    sandboxPort: field.wholeNumber({ min: 1, max: 65_535, default: 4400 }).meta({
      variable: 'SANDBOX_PORT',
      description: 'The port that the sandbox listens on.',
      sandbox: '4400',
    }),
    /** For the app: set only if its platform is the sandbox. The sandbox itself falls back to `browserUrl`. */
    sandboxUrl: field
      .baseAddress({ hint: '', env, parts: [] })
      .optional()
      .refine((url) => url === undefined || !field.isProduction(env), 'must not be set in production')
      .meta({
        variable: 'SANDBOX_URL',
        description:
          "The sandbox's public address as browsers see it. All its links and its issuer begin with it, whatever a request says. If it is set for the app, its pages link to the sandbox. Must not be set in production. Unset: `http://localhost` with the sandbox's port, or its address in a GitHub Codespace.",
        example: 'https://sandbox.example.com',
      }),
  })

/** The settings of the core. A program that needs fewer settings reads single groups with `readSettings`. */
export const coreSettings = (env: Environment) =>
  z.object({
    ...generalSettings().shape,
    ...serverSettings(env).shape,
    ...sessionSettings(env).shape,
    oidc: oidcSettings(env),
    ...storeSettings(env).shape,
    platform: z.object({
      ...oauthSettings(env).shape,
      ...apiSettings(env).shape,
      ...sandboxAddressSettings(env).shape,
    }),
  })

export type Config = ReturnType<typeof readConfig>

/** The settings of the features, by the feature's name. */
export type FeatureSettings = Readonly<Record<string, SettingsGroup>>

export interface ReadOptions {
  /** Whether the app uses your own sign-in, and so neither OpenID Connect nor the demo's sign-in. */
  hasOwnSignIn: boolean
  features?: FeatureSettings
  /** The scopes to request if `PLATFORM_SCOPES` is not set. */
  scopes?: readonly string[]
}

/** Reads all settings of the app: the core's and the features'. Throws a `ConfigError` with every problem. */
export function readConfig(env: Environment, { hasOwnSignIn, features = {}, scopes = [] }: ReadOptions) {
  const { platform, ...config } = readSettings(env, (given) =>
    coreSettings(given).extend({
      certificates: certificatesRule(given),
      signIn: signInRule(given, hasOwnSignIn),
      features: z.object(
        Object.fromEntries(Object.entries(features).map(([name, group]) => [name, group(given)])),
      ),
    }),
  )
  const { sandboxUrl } = platform
  const connectedApps = sandboxUrl === undefined ? undefined : `${sandboxUrl}/connected-apps`
  return {
    ...config,
    platform: {
      ...platform,
      scopes: platform.scopes ?? scopes,
      connectedAppsUrl: platform.connectedAppsUrl ?? connectedApps,
      sandboxUrl,
    },
  }
}

/**
 * The problem with `TRUST_PROXY`, or undefined. The app listens on http, so an https `BASE_URL` means that it is behind a proxy.
 */
export const proxyProblem = ({ baseUrl, trustProxy }: Pick<Config, 'baseUrl' | 'trustProxy'>) =>
  trustProxy === 0 && baseUrl.startsWith('https:')
    ? 'it is 0, so X-Forwarded-For does not count, but BASE_URL is https, so a proxy is in front of the app. Set the number of proxies'
    : undefined

/** Names that may be in `.env` but aren't settings of the app: those of Node, OpenTelemetry and Docker Compose. */
const OF_OTHERS = /^((NODE|OTEL|COMPOSE|DOCKER)_\w+|TZ|NO_COLOR|FORCE_COLOR|UV_THREADPOOL_SIZE|HOST_NAME)$/
/** If a value in `.env` continues on the next line, a part of a secret may look like a name. So only print this form. */
const A_NAME = /^[A-Z][A-Z\d_]{0,39}$/

/**
 * Variables that look like settings but aren't, such as a misspelled `PLATFORM_SCOPE`: any name in `.env`, and names in the
 * environment that begin with `PLATFORM_` or `OIDC_`.
 */
export function unknownSettings(
  env: Environment,
  features: FeatureSettings = {},
  namesInEnvFile: readonly string[] = [],
): string[] {
  const groups: SettingsGroup[] = [coreSettings, ...Object.values(features)]
  const known = new Set(groups.flatMap((group) => variablesOf(group({})).map(([name]) => name)))
  const names = [
    ...namesInEnvFile.filter((name) => A_NAME.test(name) && !OF_OTHERS.test(name)),
    ...Object.keys(env).filter((name) => /^(PLATFORM|OIDC)_/.test(name)),
  ]
  return [...new Set(names)].filter((name) => !known.has(name))
}

function baseUrl(env: Environment) {
  const address = field.baseAddress({ hint: 'production needs the public https address', env, parts: [] })
  if (field.isProduction(env)) return address
  return address.optional().transform((url) => url ?? field.browserUrl(env, env.PORT ?? 3000))
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
  else if (isUtf8(secret) || field.isWeak(secret.toString('latin1'), 32, 17))
    report(`entry ${number} is too weak: its bytes are not random (${NEW_SECRETS})`)
  return { id, secret }
}

function redisUrls(env: Environment) {
  const plainAllowed = !field.isProduction(env) || env.REDIS_ALLOW_INSECURE === 'true'
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
      'must be rediss:// in production, or a Redis on this machine; on a private network set REDIS_ALLOW_INSECURE=true',
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

/** Scopes have the characters of RFC 6749, appendix A.4. */
export const scopes = () =>
  z
    .string()
    .transform((text) => text.split(/[\s,]+/))
    .refine(
      (names) => names.every((name) => /^[\x21\x23-\x5B\x5D-\x7E]+$/.test(name)),
      'must be names of scopes, separated by spaces',
    )
    .optional()

const authorizeParams = () =>
  z
    .string()
    .default('')
    .transform((text, ctx): URLSearchParams => {
      const params = new URLSearchParams(text)
      const reserved = flowParameterNames(platform).find((name) => params.has(name))
      if (reserved) ctx.addIssue(`must not set ${reserved}: the flow sets it`)
      return params
    })
