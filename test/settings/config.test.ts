import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { configurationPage, envExample } from '../../src/cli/settings-docs.ts'
import { featureOptions, loadFeatures } from '../../src/features/load.ts'
import { missingSandboxEnv } from '../../src/runtime/load-env-file.ts'
import {
  apiSettings,
  coreSettings,
  readConfig,
  serverSettings,
  storeSettings,
  unknownSettings,
} from '../../src/settings/config.ts'
import { wholeNumber } from '../../src/settings/fields.ts'
import { ConfigError, type Environment, readSettings, variablesOf } from '../../src/settings/read.ts'
import { testEnv } from '../support/env.ts'

const SECRETS = {
  SESSION_SECRET: randomBytes(32).toString('base64url'),
  TOKEN_ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
}

const good = (extra: Record<string, string> = {}): Record<string, string> => ({
  ...SECRETS,
  PLATFORM_APP_URL: 'https://app.platform.example',
  PLATFORM_AUTH_URL: 'https://auth.platform.example',
  PLATFORM_API_URL: 'https://api.platform.example/v1/',
  PLATFORM_CLIENT_ID: 'test-client',
  PLATFORM_CLIENT_SECRET: 'test-secret',
  ...extra,
})

/** The problems of the core's settings, one line each. */
function problems(env: Environment, demoSignIn = false): readonly string[] {
  try {
    readConfig(env, { hasOwnSignIn: !demoSignIn })
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

const startingWith = (name: string) => [expect.stringMatching(new RegExp(`^${name} `))]

test('good settings make a config; addresses lose their closing slash', () => {
  const env = good({ PORT: '3100', TRUST_PROXY: '2' })
  const config = readConfig(env, { hasOwnSignIn: false, scopes: ['catalogues', 'leads'] })
  expect(config).toMatchObject({
    port: 3100,
    host: undefined,
    baseUrl: 'http://localhost:3100',
    trustProxy: 2,
    redisUrls: [],
    dataDir: '.data',
    logLevel: 'info',
    environment: 'development',
    demoAllowRemote: false,
    features: {},
  })
  expect(config.tokenEncryptionKeys).toEqual([{ id: 'k1', secret: expect.any(Buffer) }])
  expect(config.platform).toMatchObject({
    appUrl: 'https://app.platform.example',
    authUrl: 'https://auth.platform.example',
    apiUrl: 'https://api.platform.example/v1',
    clientId: 'test-client',
    clientSecret: 'test-secret',
    scopes: ['catalogues', 'leads'],
    authorizePath: '/authorize',
    authorizeParams: new URLSearchParams(),
    pkce: true,
    tokenEndpointAuthMethod: 'client_secret_post',
    proxies: null,
  })
})

test('every problem is reported at once, by the name of its variable', () => {
  const reported = problems({
    PORT: 'x',
    REDIS_URL: 'http://x',
    PLATFORM_PKCE: 'maybe',
    LOG_LEVEL: 'loud',
    BASE_URL: 'ftp://x',
  })
  expect(reported.map((problem) => problem.split(' ')[0]).sort()).toEqual([
    'BASE_URL',
    'LOG_LEVEL',
    'PLATFORM_API_URL',
    'PLATFORM_APP_URL',
    'PLATFORM_AUTH_URL',
    'PLATFORM_CLIENT_ID',
    'PLATFORM_CLIENT_SECRET',
    'PLATFORM_PKCE',
    'PORT',
    'REDIS_URL',
    'SESSION_SECRET',
    'TOKEN_ENCRYPTION_KEYS',
  ])
  expect(reported).toContain("PLATFORM_API_URL is required (ask the platform's support team)")
})

describe('settings of features', () => {
  const feature = () =>
    z.object({ workers: wholeNumber({ min: 1, max: 9, default: 1 }).meta({ variable: 'WORKERS' }) })

  test('are in the config by the name of the feature', () => {
    const config = readConfig(good({ WORKERS: '4' }), { hasOwnSignIn: false, features: { feature } })
    expect(config.features).toEqual({ feature: { workers: 4 } })
  })

  test('are reported together with those of the core', () => {
    expect(() =>
      readConfig(good({ PORT: 'x', WORKERS: 'x' }), { hasOwnSignIn: false, features: { feature } }),
    ).toThrow(/2 problems:\n {2}PORT must .*\n {2}WORKERS must /)
  })
})

test('OIDC_ISSUER beside a sign-in of your own does not start, and the message says which of them is used', () => {
  const oidc = { OIDC_ISSUER: 'https://login.example', OIDC_CLIENT_ID: 'x', OIDC_CLIENT_SECRET: 'x' }
  expect(problems(good(oidc))).toEqual([
    'OIDC_ISSUER is set, but users sign in by OWN_SIGN_IN in src/web/sign-in/sign-in.ts: remove OIDC_ISSUER, or set OWN_SIGN_IN to null',
  ])
  expect(problems(good(oidc), true)).toEqual([])
})

test('an address without appended paths is used as it is typed, and an address to which paths are appended has no closing slash', () => {
  const revocationUrl = 'https://auth.example/o/revoke_token/?tenant=a%2Fb'
  const connectedAppsUrl = 'https://app.example/settings/?tab=apps#connected'
  const config = readConfig(
    good({
      PLATFORM_REVOCATION_URL: revocationUrl,
      PLATFORM_CONNECTED_APPS_URL: connectedAppsUrl,
      OIDC_ISSUER: 'https://login.example/',
      OIDC_CLIENT_ID: 'x',
      OIDC_CLIENT_SECRET: 'x',
    }),
    { hasOwnSignIn: false },
  )
  expect(config.platform).toMatchObject({
    revocationUrl,
    connectedAppsUrl,
    apiUrl: 'https://api.platform.example/v1',
  })
  expect(config.oidc?.issuer).toBe('https://login.example/')
})

test.each([
  ['PORT', '65536'],
  ['PORT', '-1'],
  ['PORT', '0'],
  ['BASE_URL', 'https://app.example/path'],
  ['BASE_URL', 'https://app.example/?q'],
  ['BASE_URL', 'app.example'],
  ['TRUST_PROXY', 'all'],
  ['TRUST_PROXY', '10'],
  ['DEMO_ALLOW_REMOTE', 'yes'],
  ['TOKEN_ENCRYPTION_KEYS', 'k1:short'],
  ['TOKEN_ENCRYPTION_KEYS', `k1:${Buffer.alloc(32).toString('base64')}`],
  ...[
    Buffer.from(Array.from({ length: 32 }, (_, index) => index)),
    Buffer.from(Array.from({ length: 32 }, (_, index) => 255 - index)),
    Buffer.concat(Array(2).fill(randomBytes(16))),
    Buffer.from(randomBytes(16).toString('hex')),
    Buffer.from('a sentence that one can remember'),
  ].map((key) => ['TOKEN_ENCRYPTION_KEYS', `k1:${key.toString('base64')}`]),
  ['TOKEN_ENCRYPTION_KEYS', 'no-colon'],
  ['REDIS_URL', 'localhost:6379'],
  ['REDIS_ALLOW_INSECURE', '1'],
  ['PLATFORM_AUTHORIZE_PATH', 'authorize'],
  ['PLATFORM_TOKEN_ENDPOINT_AUTH_METHOD', 'private_key_jwt'],
  ['PLATFORM_AUTHORIZE_PARAMS', 'state=fixed'],
  ['PLATFORM_SCOPES', 'le"ads'],
  ['PLATFORM_API_URL', 'https://user:password@api.example'],
  ['PLATFORM_API_URL', 'https://api.example/?version=1'],
  ['PLATFORM_REVOCATION_URL', 'https://auth.example/revoke#x'],
  ['PLATFORM_CONNECTED_APPS_URL', 'javascript:alert(1)'],
  ['PLATFORM_PKCE', 'on'],
  ['PLATFORM_INTERNAL_URLS', 'https://identity.example'],
  ['PLATFORM_INTERNAL_URLS', 'https://identity.example=https://internal.example/path'],
  ['HTTPS_PROXY', 'proxy.example:3128'],
  ['HTTPS_PROXY', 'http://user:50%off@proxy.example:3128'],
  ['PLATFORM_PKCE', 'off'],
  ['PLATFORM_CLIENT_SECRET', '\u201csecret\u201d'],
  ['PLATFORM_CLIENT_ID', 'client\u00a0id'],
])('%s=%s is refused by name', (name, value) => {
  expect(problems(good({ [name]: value }))).toEqual(startingWith(name))
})

test('each bad key is reported, by its number', () => {
  expect(problems(good({ TOKEN_ENCRYPTION_KEYS: `bad,${SECRETS.TOKEN_ENCRYPTION_KEYS},bad` }))).toEqual([
    'TOKEN_ENCRYPTION_KEYS entry 1 must be an id, a colon and 32 bytes in base64',
    'TOKEN_ENCRYPTION_KEYS entry 3 must be an id, a colon and 32 bytes in base64',
  ])
})

test('a key id given twice is refused', () => {
  const twice = `${SECRETS.TOKEN_ENCRYPTION_KEYS},${SECRETS.TOKEN_ENCRYPTION_KEYS}`
  expect(problems(good({ TOKEN_ENCRYPTION_KEYS: twice }))).toEqual([
    'TOKEN_ENCRYPTION_KEYS has the same id twice',
  ])
})

test('variables that are named like settings and are none are found', () => {
  const env = { PLATFORM_SCOPE: 'leads', OIDC_CLIENT: 'id', PLATFORM_SCOPES: 'leads', PATH: '/bin' }
  expect(unknownSettings(env)).toEqual(['PLATFORM_SCOPE', 'OIDC_CLIENT'])
})

test('every name in .env that is no setting is found, but for those of other programs', () => {
  const names = [
    'SESION_SECRET',
    'PLATFORM_SCOPE',
    'PORT',
    'NODE_OPTIONS',
    'OTEL_SERVICE_NAME',
    'TZ',
    'http_proxy',
  ]
  expect(unknownSettings({ PLATFORM_SCOPE: 'leads' }, {}, names)).toEqual(['SESION_SECRET', 'PLATFORM_SCOPE'])
})

test('the second line of a value in .env is no name: it may be a key', () => {
  const names = Object.keys(parseEnv('TOKEN_ENCRYPTION_KEYS=k1:abc,\nk2:aB3defgh=\n'))
  expect(names).toHaveLength(2)
  expect(unknownSettings({}, {}, names)).toEqual([])
})

test('every name of compose.yaml is known', async () => {
  const namesIn = (file: string, pattern: RegExp) =>
    [...readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8').matchAll(pattern)].map(
      ([, name = '']) => name,
    )
  const names = [...namesIn('compose.yaml', /\$\{([A-Z_]+)/g)]
  expect(names).toEqual(expect.arrayContaining(['HOST_NAME']))
  expect(unknownSettings({}, featureOptions(await loadFeatures()).features, names)).toEqual([])
})

test('no problem repeats the value that caused it: it may be a secret', () => {
  const names = variablesOf(coreSettings({})).map(([name]) => name)
  const env = Object.fromEntries(names.map((name) => [name, 'k1:hunter2 hunter2']))
  for (const NODE_ENV of ['hunter2', 'production', 'test']) {
    const reported = problems({ ...env, NODE_ENV }, true)
    expect(reported.length).toBeGreaterThan(10)
    expect(reported.join()).not.toContain('hunter2')
  }
})

describe('in production', () => {
  const production = (extra: Record<string, string> = {}) =>
    good({ NODE_ENV: 'production', BASE_URL: 'https://app.example', ...extra })

  test('strong settings start', () => {
    expect(problems(production())).toEqual([])
  })

  test('the demo sign-in does not', () => {
    expect(problems(production(), true)).toEqual([
      expect.stringMatching(/^NODE_ENV is production, .*src\/web\/sign-in\/sign-in\.ts/),
    ])
  })

  test.each(['short', 'x'.repeat(64), 'abcabcabcabcabcabcabcabcabcabcabcabc', '0123456789abcdef'.repeat(3)])(
    'a weak SESSION_SECRET does not',
    (secret) => {
      expect(problems(production({ SESSION_SECRET: secret }))).toEqual([
        expect.stringMatching(/^SESSION_SECRET is too weak/),
      ])
      expect(problems(good({ SESSION_SECRET: secret }))).toEqual([])
    },
  )

  test('an encryption key as SESSION_SECRET does not, with or without its id', () => {
    const [key = ''] = SECRETS.TOKEN_ENCRYPTION_KEYS.split(':').slice(1)
    for (const secret of [key, SECRETS.TOKEN_ENCRYPTION_KEYS, `${SECRETS.SESSION_SECRET},${key}`])
      expect(problems(production({ SESSION_SECRET: secret }))).toEqual([
        expect.stringMatching(/^SESSION_SECRET is one of TOKEN_ENCRYPTION_KEYS/),
      ])
  })

  test('certificates that are not checked do not', () => {
    const unchecked = { NODE_TLS_REJECT_UNAUTHORIZED: '0' }
    expect(problems(production(unchecked))).toEqual(startingWith('NODE_TLS_REJECT_UNAUTHORIZED'))
    expect(problems(good(unchecked))).toEqual([])
    expect(problems(production({ NODE_TLS_REJECT_UNAUTHORIZED: '1' }))).toEqual([])
  })

  test('a missing BASE_URL does not: its default is for a developer’s machine', () => {
    const { BASE_URL: _, ...rest } = production()
    expect(problems(rest)).toEqual([expect.stringMatching(/^BASE_URL is required/)])
  })

  test('plain http does not, except on this machine', () => {
    expect(problems(production({ BASE_URL: 'http://app.example' }))).toEqual([
      expect.stringMatching(/^BASE_URL .*https/),
    ])
    for (const name of ['PLATFORM_AUTH_URL', 'PLATFORM_APP_URL', 'PLATFORM_API_URL'])
      expect(problems(production({ [name]: 'http://auth.example' }))).toEqual(startingWith(name))
    const internal = (url: string) =>
      production({ PLATFORM_INTERNAL_URLS: `https://identity.example=${url}` })
    expect(problems(internal('http://10.0.0.5'))).toEqual(startingWith('PLATFORM_INTERNAL_URLS'))
    expect(problems(internal('https://10.0.0.5'))).toEqual([])
    expect(problems(production({ BASE_URL: 'http://localhost:3000' }))).toEqual([])
  })

  test('a plain redis:// to another machine does not, unless it is meant', () => {
    const url = 'redis://redis.internal:6379'
    expect(problems(production({ REDIS_URL: url }))).toEqual([
      expect.stringMatching(/^REDIS_URL .*REDIS_ALLOW_INSECURE=true/),
    ])
    expect(problems(production({ REDIS_URL: `rediss://a:1,${url}` }))).toHaveLength(1)
    expect(problems(production({ REDIS_URL: 'redis://127.0.0.1.evil.example' }))).toHaveLength(1)
    expect(problems(production({ REDIS_URL: 'REDIS://10.0.0.5' }))).toHaveLength(1)
    expect(problems(production({ REDIS_URL: url, REDIS_ALLOW_INSECURE: 'true' }))).toEqual([])
    expect(problems(production({ REDIS_URL: url, REDIS_ALLOW_INSECURE: '1' }))).toHaveLength(2)
  })

  test('a Redis on this machine starts, and so does rediss://', () => {
    expect(problems(production({ REDIS_URL: 'redis://127.0.0.1:6379' }))).toEqual([])
    expect(problems(production({ REDIS_URL: 'rediss://redis.internal:6379' }))).toEqual([])
  })
})

test.each(['prod', 'Production', 'PRODUCTION', 'staging'])('NODE_ENV=%s does not start', (environment) => {
  expect(problems(good({ NODE_ENV: environment }))).toEqual([
    'NODE_ENV must be production, development, test or unset',
  ])
})

test.each(['production ', ' development', 'test'])('NODE_ENV=%j is understood', (environment) => {
  const env = good({ NODE_ENV: environment, BASE_URL: 'https://app.example' })
  expect(readConfig(env, { hasOwnSignIn: true }).environment).toBe(environment.trim())
})

describe('a program without pages reads only what it needs', () => {
  const production = { NODE_ENV: 'production', TOKEN_ENCRYPTION_KEYS: SECRETS.TOKEN_ENCRYPTION_KEYS }

  test('a job that calls the API needs neither sessions nor an address of its own', () => {
    const job = (env: Environment) => storeSettings(env).extend(apiSettings(env).shape)
    const { apiUrl } = readSettings({ ...production, PLATFORM_API_URL: 'https://api.example' }, job)
    expect(apiUrl).toBe('https://api.example')
    expect(() => readSettings(production, job)).toThrow('PLATFORM_API_URL is required')
  })

  test('a server needs BASE_URL in production, and nothing of the platform', () => {
    const server = (env: Environment) => storeSettings(env).extend(serverSettings(env).shape)
    expect(readSettings({ ...production, BASE_URL: 'https://x.example' }, server).port).toBe(3000)
    expect(() => readSettings(production, server)).toThrow('BASE_URL is required')
  })
})

describe('.env.example', () => {
  const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')
  const example = read('../../.env.example')

  // The section of a feature whose folder was deleted stays until `npm run docs` runs.
  test('has each section that `npm run docs` writes, and so has docs/configuration.md', async () => {
    const features = await loadFeatures()
    for (const section of envExample(features).split(/\n\n(?=# --- )/))
      expect(example).toContain(section.trimEnd())
    for (const section of configurationPage(features).split(/\n\n(?=## )/))
      expect(read('../../docs/configuration.md')).toContain(section.trimEnd())
  })

  test('is valid, and needs only secrets', async () => {
    const env = testEnv({ ...parseEnv(example), ...missingSandboxEnv(parseEnv(example)) })
    const { features } = featureOptions(await loadFeatures())
    expect(() => readConfig(env, { hasOwnSignIn: false, features })).not.toThrow()
  })
})
