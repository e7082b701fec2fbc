import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { type ConfigError, readConfig } from '../src/config.ts'
import { testEnv } from './support/app.ts'

const PLATFORM = {
  PLATFORM_APP_URL: 'https://app.platform.example',
  PLATFORM_AUTH_URL: 'https://auth.platform.example',
  PLATFORM_API_URL: 'https://api.platform.example/v1/',
}
const good = (extra: Record<string, string> = {}) => testEnv({ ...PLATFORM, ...extra })

function problems(env: Record<string, string | undefined>, demoSignIn = false): string[] {
  try {
    readConfig(env, { demoSignIn })
    return []
  } catch (error) {
    return (error as ConfigError).problems
  }
}

test('good settings make a config; addresses lose their closing slash', () => {
  const config = readConfig(good({ PORT: '3100' }), { demoSignIn: true })
  expect(config).toMatchObject({
    port: 3100,
    baseUrl: 'http://localhost:3100',
    redisUrls: [],
    production: false,
  })
  expect(config.platform).toMatchObject({
    apiUrl: 'https://api.platform.example/v1',
    scopes: ['catalogues', 'leads'],
    pkce: true,
  })
})

test('live pricing has callers, each with its secrets; two while they rotate', () => {
  const config = readConfig(
    good({
      LIVE_PRICING_CLIENTS: 'a:first-secret, a:second:secret, b:third',
      LIVE_PRICING_STAGING_CLIENTS: 'a:other',
      TRUSTED_PROXIES: '2',
    }),
    { demoSignIn: true },
  )
  expect(config.livePricing).toEqual({
    clients: {
      production: [
        { id: 'a', secrets: ['first-secret', 'second:secret'] },
        { id: 'b', secrets: ['third'] },
      ],
      staging: [{ id: 'a', secrets: ['other'] }],
    },
    rateLimit: { limit: 3000, windowMs: 10_000 },
  })
  expect(config.proxies).toBe(2)
})

test.each([
  ['LIVE_PRICING_CLIENTS', 'no-colon'],
  ['LIVE_PRICING_CLIENTS', ':secret'],
  ['LIVE_PRICING_CLIENTS', 'a:with space'],
  ['LIVE_PRICING_RATE_LIMIT', 'many'],
  ['TRUSTED_PROXIES', 'all'],
])('%s=%s is a problem that is told by its name, and not repeated', (name, value) => {
  const told = problems(good({ [name]: value }))
  expect(told.join('\n')).toMatch(new RegExp(`^${name} `))
  expect(told.join('\n')).not.toContain(value)
})

test('production refuses weak secrets of live pricing, and the same one for staging', () => {
  const live = { LIVE_PRICING_CLIENTS: 'a:short', LIVE_PRICING_STAGING_CLIENTS: 'b:short' }
  expect(
    problems(good({ ...live, NODE_ENV: 'production', BASE_URL: 'https://x.example' })).join('\n'),
  ).toMatch(/LIVE_PRICING_CLIENTS entry 1 has a weak secret/)
  expect(problems(good(live)).join('\n')).toMatch(/LIVE_PRICING_STAGING_CLIENTS must not have the secrets/)
})

test('production refuses the secrets that stand in .env.example', () => {
  const example = {
    LIVE_PRICING_CLIENTS: 'a:sandbox-platform-secret',
    PLATFORM_WEBHOOK_SECRET: 'sandbox-webhook-secret',
  }
  const told = problems(good({ ...example, NODE_ENV: 'production', BASE_URL: 'https://x.example' }))
  expect(told.map((problem) => problem.split(' ')[0])).toEqual([
    'PLATFORM_WEBHOOK_SECRET',
    'LIVE_PRICING_CLIENTS',
  ])
})

test('live pricing alone needs no setting of the platform’s and no sign-in, but callers', () => {
  const { TOKEN_KEYS = '' } = good()
  const alone = (env: Record<string, string>) =>
    readConfig({ TOKEN_KEYS, ...env }, { demoSignIn: true, livePricingOnly: true })
  expect(alone({ LIVE_PRICING_CLIENTS: 'a:b' }).livePricing.clients.production).toHaveLength(1)
  expect(() => alone({})).toThrow('LIVE_PRICING_CLIENTS is not set')
})

test('every problem is told at once, by the name of its variable', () => {
  const told = problems({
    PORT: 'x',
    REDIS_URL: 'http://x',
    PLATFORM_PKCE: 'maybe',
    LOG_LEVEL: 'loud',
    BASE_URL: 'ftp://x',
  })
  for (const name of [
    ...[
      'PORT',
      'BASE_URL',
      'SESSION_SECRET',
      'TOKEN_KEYS',
      'REDIS_URL',
      'LOG_LEVEL',
      'PLATFORM_APP_URL',
      'PLATFORM_AUTH_URL',
    ],
    ...['PLATFORM_API_URL', 'PLATFORM_CLIENT_ID', 'PLATFORM_CLIENT_SECRET', 'PLATFORM_PKCE'],
  ]) {
    expect(
      told.filter((problem) => problem.startsWith(`${name} `)),
      name,
    ).toHaveLength(1)
  }
})

test.each([
  ['PORT', '65536'],
  ['PORT', '-1'],
  ['BASE_URL', 'https://app.example/path'],
  ['BASE_URL', 'https://app.example/?q'],
  ['BASE_URL', 'app.example'],
  ['TOKEN_KEYS', 'k1:short'],
  ['TOKEN_KEYS', `k1:${Buffer.alloc(32).toString('base64')}`],
  ['TOKEN_KEYS', 'no-colon'],
  ['REDIS_URL', 'localhost:6379'],
  ['PLATFORM_AUTHORIZE_PATH', 'authorize'],
  ['PLATFORM_AUTHORIZE_PARAMS', 'state=fixed'],
  ['PLATFORM_SCOPES', 'le"ads'],
  ['PLATFORM_API_URL', 'https://user:password@api.example'],
])('%s=%s is refused by name', (name, value) => {
  expect(problems(good({ [name]: value }))).toEqual([expect.stringMatching(new RegExp(`^${name} `))])
})

test('a key id given twice is refused', () => {
  const { TOKEN_KEYS = '' } = good()
  expect(problems(good({ TOKEN_KEYS: `${TOKEN_KEYS},${TOKEN_KEYS}` }))).toEqual([
    'TOKEN_KEYS has an id twice',
  ])
})

test('no problem repeats the value that caused it: it may be a secret', () => {
  const secrets = {
    TOKEN_KEYS: 'k1:hunter2hunter2',
    SESSION_SECRET: 'hunter2',
    REDIS_URL: 'redis//:hunter2@x',
    PLATFORM_CLIENT_SECRET: '',
  }
  expect(problems({ ...good(), ...secrets, NODE_ENV: 'production' }).join()).not.toContain('hunter2')
})

describe('in production', () => {
  const production = (extra: Record<string, string> = {}) =>
    good({ NODE_ENV: 'production', BASE_URL: 'https://app.example', ...extra })

  test('strong settings start', () => {
    expect(problems(production())).toEqual([])
  })

  test('the demo sign-in does not', () => {
    expect(problems(production(), true)).toEqual([expect.stringContaining('src/web/sign-in.ts')])
  })

  test.each(['short', 'x'.repeat(64), 'abcabcabcabcabcabcabcabcabcabcabcabc'])(
    'a weak SESSION_SECRET does not',
    (secret) => {
      expect(problems(production({ SESSION_SECRET: secret }))).toEqual([
        expect.stringMatching(/^SESSION_SECRET is too weak/),
      ])
    },
  )

  test('a missing BASE_URL does not: its default is for a developer’s machine', () => {
    const { BASE_URL: _, ...rest } = production()
    expect(problems(rest)).toEqual([expect.stringMatching(/^BASE_URL is not set/)])
  })

  test('plain http does not, except on this machine', () => {
    expect(problems(production({ BASE_URL: 'http://app.example' }))).toEqual([
      expect.stringMatching(/^BASE_URL .*https/),
    ])
    expect(problems(production({ PLATFORM_AUTH_URL: 'http://auth.example' }))).toHaveLength(1)
    expect(problems(production({ BASE_URL: 'http://localhost:3000' }))).toEqual([])
  })
})

test.each(['prod', 'Production', 'PRODUCTION', 'staging'])('NODE_ENV=%s does not start', (environment) => {
  expect(problems(good({ NODE_ENV: environment }))).toEqual([
    'NODE_ENV must be production, development, test or unset',
  ])
})

test.each(['production ', ' development', 'test'])('NODE_ENV=%j is understood', (environment) => {
  const config = readConfig(good({ NODE_ENV: environment, BASE_URL: 'https://app.example' }), {
    demoSignIn: false,
  })
  expect(config.production).toBe(environment.trim() === 'production')
})

describe('a plain redis:// in production', () => {
  const production = (extra: Record<string, string>) =>
    problems(good({ NODE_ENV: 'production', BASE_URL: 'https://app.example', ...extra }))

  test('to another machine does not start, unless it is said to be meant', () => {
    const url = 'redis://redis.internal:6379'
    expect(production({ REDIS_URL: url })).toEqual([
      expect.stringMatching(/^REDIS_URL .*REDIS_PLAINTEXT=true/),
    ])
    expect(production({ REDIS_URL: `rediss://a:1,${url}` })).toHaveLength(1)
    expect(production({ REDIS_URL: 'redis://127.0.0.1.evil.example' })).toHaveLength(1)
    expect(production({ REDIS_URL: 'REDIS://10.0.0.5' })).toHaveLength(1)
    expect(production({ REDIS_URL: url, REDIS_PLAINTEXT: 'true' })).toEqual([])
  })

  test('on this machine starts, and so does rediss://', () => {
    expect(production({ REDIS_URL: 'redis://127.0.0.1:6379' })).toEqual([])
    expect(production({ REDIS_URL: 'rediss://redis.internal:6379' })).toEqual([])
  })
})

test.each([
  ['DEMO_ALLOW_REMOTE', 'yes'],
  ['REDIS_PLAINTEXT', '1'],
  ['HOST', 'http://x'],
  ['UPLOAD_QUOTA_MB', 'much'],
])('%s=%s is named', (name, value) => {
  const redis = name === 'REDIS_PLAINTEXT' ? { REDIS_URL: 'redis://elsewhere:1', NODE_ENV: 'production' } : {}
  const found = problems(good({ BASE_URL: 'https://app.example', ...redis, [name]: value }))
  expect(found.filter((problem) => problem.startsWith(`${name} `))).toHaveLength(1)
})

test('.env.example and the README name every variable that the code reads, and no other', () => {
  const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')
  const names = (text: string, pattern: RegExp) =>
    new Set([...text.matchAll(pattern)].map(([, name]) => name))
  const code = new Set([
    ...names(read('../src/config.ts'), /'((?:PORT|[A-Z]+_[A-Z_]+))'/g),
    ...names(read('../src/runtime/run-sandbox.ts'), /env\.([A-Z_]+)/g),
  ])
  const example = names(read('../.env.example'), /^#? ?([A-Z_]+)=/gm)
  const readme = names(read('../README.md'), /^\| `([A-Z_]+)`/gm)
  expect(example).toEqual(code)
  expect(readme).toEqual(code)
})

test('the README names every error code that a client can meet, and no other', () => {
  const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')
  const codes = (text: string, pattern: RegExp) =>
    new Set([...text.matchAll(pattern)].map(([, code]) => code))
  const titles = /const TITLES[^}]+}/.exec(read('../src/web/errors.ts'))?.[0] ?? ''
  const told = codes(titles, /^ {2}(\w+):/gm)
  const table = /\| Status[\s\S]+?\n\n/.exec(read('../README.md'))?.[0] ?? ''
  expect(codes(table, /`([a-z]\w+)`/g)).toEqual(told)
})
