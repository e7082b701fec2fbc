import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import type { ConnectionRef } from '../../../../src/connect/index.ts'
import type { ScenarioResult } from '../../../../src/features/flow-inspector/scenarios/player.ts'
import { SCENARIOS } from '../../../../src/features/flow-inspector/scenarios/scenarios.ts'
import { ACCOUNTS } from '../../../../src/sandbox/accounts.ts'
import { type Running, startAll } from '../../../support/app.ts'
import { CLIENT } from '../../../support/env.ts'
import { connected, connectionsOf, signedIn } from '../../../support/flow.ts'
import { createVisitor } from '../../../support/visitor.ts'
import { flowsOf, flowWith } from '../support.ts'

let app: Running
beforeAll(async () => {
  app = await startAll({ LOG_LEVEL: 'trace' })
})
afterAll(() => app.close())
afterEach(() => vi.restoreAllMocks())

const JSON_ONLY = { accept: 'application/json' }

async function run(name: string): Promise<ScenarioResult> {
  const ann = await signedIn(app)
  return (await ann.post(`${app.url}/scenarios/${name}/run`, JSON_ONLY)).json()
}

const failedObservations = ({ observations }: ScenarioResult) => observations.filter(({ ok }) => !ok)

const SECRET_NAMES = ['code', 'state', 'code_verifier', 'refresh_token', 'access_token', 'client_secret']

/** Collects the secrets of this process at its two ends: what the browsers see, and the token requests. */
function watchWire(): Set<string> {
  const secrets = new Set([CLIENT.clientSecret])
  const collect = (entries: Iterable<[string, unknown]>) => {
    for (const [name, value] of entries)
      if (SECRET_NAMES.includes(name) && typeof value === 'string' && value.length > 20) secrets.add(value)
  }
  const { fetch } = globalThis
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (...args) => {
    const response = await fetch(...args)
    const location = response.headers.get('location')
    if (location) collect(new URL(location, response.url).searchParams)
    for (const cookie of response.headers.getSetCookie()) {
      const [, id = ''] = /^[\w-]+=s%3A([^.]+)\./.exec(cookie) ?? []
      if (id) secrets.add(id)
    }
    return response
  })
  const { tokens } = app.services.http
  const { send } = tokens
  vi.spyOn(tokens, 'send').mockImplementation(async (request) => {
    collect(new URLSearchParams(String(request.body)))
    const response = await send(request)
    try {
      collect(Object.entries(JSON.parse(response.text)))
    } catch {
      // A fault answered something else.
    }
    return response
  })
  return secrets
}

/** Everything that the store holds, as it is on the disk. */
function storedText(): string {
  const db = new DatabaseSync(join(app.config.dataDir, 'store.sqlite'), { readOnly: true })
  const rows = db.prepare('SELECT kind, owner, id, value FROM entries').all()
  db.close()
  return rows.map((row) => Object.values(row).join(' ')).join('\n')
}

describe('an app that works', () => {
  const results = new Map<string, { result: ScenarioResult; steps: number }>()
  let secrets: Set<string>
  /** Everything that was shown or stored, by its place. */
  const texts = new Map<string, string>()

  beforeAll(async () => {
    const ann = await signedIn(app)
    secrets = watchWire()
    for (const { name } of SCENARIOS) {
      const result = await run(name)
      const { steps } = await flowWith(app, ann, result.flows[0]?.id ?? '')
      results.set(name, { result, steps: steps.length })
      texts.set(`result of ${name}`, JSON.stringify(result))
      texts.set(`store after ${name}`, storedText())
    }
    vi.restoreAllMocks()
  })

  test.each(SCENARIOS)('$name ends as expected, and its flow shows it', async ({ name }) => {
    const found = results.get(name)
    if (!found) throw new Error(`${name} was not run`)
    const { result, steps } = found
    expect(failedObservations(result)).toEqual([])
    expect(result.asExpected).toBe(true)
    expect(steps).toBeGreaterThan(0)
    const { scenarios } = (await (await signedIn(app)).get(`${app.url}/scenarios`, JSON_ONLY)).json()
    expect(scenarios.find((scenario: { name: string }) => scenario.name === name).result).toEqual(result)
  })

  test('after every scenario, no secret is in a page, JSON, an export, the raw store or the log', async () => {
    const ann = await signedIn(app)
    const paths = ['/flows', '/scenarios', '/connections']
    for (const { id } of await flowsOf(app, ann)) {
      const flow = `/flows/${id}`
      paths.push(flow, `${flow}/steps/1`, `${flow}/present/1`, `${flow}/export`)
    }
    for (const path of paths)
      for (const accept of ['text/html', 'application/json'])
        texts.set(`${path} as ${accept}`, (await ann.get(app.url + path, { accept })).text)
    texts.set('log', app.logLines.join('\n'))

    expect(secrets.size).toBeGreaterThan(50)
    expect(texts.size).toBeGreaterThan(150)
    const leaks = [...texts].flatMap(([where, text]) =>
      [...secrets].filter((secret) => text.includes(secret)).map(() => where),
    )
    expect(leaks).toEqual([])
  })
})

type Core = Running['services']['connect']
type Source = ReturnType<Core['vault']['tokenSource']>
/** Token sources that refresh in another way. */
function refreshBy({ vault }: Core, refresh: (ref: ConnectionRef) => Source['refresh']): void {
  const tokenSource = vault.tokenSource.bind(vault)
  vi.spyOn(vault, 'tokenSource').mockImplementation((ref) => ({ ...tokenSource(ref), refresh: refresh(ref) }))
}

/** For each scenario, a fault of the app that it must notice. */
const BROKEN: Record<string, (core: Core) => void> = {
  // The tokens are thrown away.
  'happy-path': ({ vault }) => vi.spyOn(vault, 'connect').mockResolvedValue('connected'),
  // A denial counts as a success.
  denied: ({ flows }) =>
    vi.spyOn(flows, 'claim').mockResolvedValue({
      phase: 'ended',
      id: 'x',
      state: 'x',
      outcome: { connected: 'demo-builders' },
    }),
  // The granted scopes are forgotten.
  'missing-permission': ({ oauth }) => {
    const { exchangeCode } = oauth
    vi.spyOn(oauth, 'exchangeCode').mockImplementation(async (flow) => ({
      ...(await exchangeCode(flow)),
      scopes: undefined,
    }))
  },
  // A rejected token is used again.
  'token-expires': (core) => refreshBy(core, () => async (rejectedToken) => rejectedToken),
  // Each caller refreshes for itself.
  'hundred-callers': ({ vault, oauth }) => {
    const accessToken = vault.accessToken.bind(vault)
    vi.spyOn(vault, 'accessToken').mockImplementation(async (ref) => {
      const token = await accessToken(ref)
      await oauth.refresh({ refreshToken: 'x', bxcontext: ref.bxcontext }).catch(() => {})
      return token
    })
  },
  // A refused refresh is taken for an outage.
  revoked: (core) => refreshBy(core, () => () => Promise.reject(new Error('an outage'))),
  // An outage disconnects the account.
  outage: (core) =>
    refreshBy(core, (ref) => async () => {
      await core.vault.disconnect(ref)
      throw new Error('an outage')
    }),
  // The call is given up at the first 429.
  'rate-limited': ({ api }) => {
    const { list } = api
    vi.spyOn(api, 'list').mockImplementation(async (source, call, page) => {
      await api.post(source, { ...call, path: '/none' }, {}).catch(() => {})
      return list(source, call, page)
    })
  },
  // Any state will do.
  'foreign-state': ({ flows }) => {
    const [arrive, claim] = [flows.arrive.bind(flows), flows.claim.bind(flows)]
    let latest = ''
    vi.spyOn(flows, 'arrive').mockImplementation(async (browser, bxcontext) => {
      const flow = await arrive(browser, bxcontext)
      if (flow.phase === 'consenting') latest = flow.state
      return flow
    })
    vi.spyOn(flows, 'claim').mockImplementation((browser) => claim(browser, latest))
  },
  // A bxcontext counts although nothing was started.
  'planted-bxcontext': ({ flows }) => {
    const arrive = flows.arrive.bind(flows)
    vi.spyOn(flows, 'arrive').mockImplementation(async (browser, bxcontext) => {
      await flows.start(browser)
      return arrive(browser, bxcontext)
    })
  },
  // Nobody asks about the other business.
  'other-business': ({ flows }) => {
    const start = flows.start.bind(flows)
    vi.spyOn(flows, 'start').mockImplementation((browser) => start(browser))
  },
}

describe('an app that misbehaves', () => {
  test.each(SCENARIOS)('$name does not end as expected, and says what was observed', async ({ name }) => {
    const breakIt = BROKEN[name]
    if (!breakIt) throw new Error(`nothing breaks ${name}`)
    breakIt(app.services.connect)
    const result = await run(name)
    expect(result.asExpected).toBe(false)
    expect(failedObservations(result).length).toBeGreaterThan(0)
    for (const { expected, observed } of failedObservations(result)) expect(expected).not.toBe(observed)
  })
})

test('a scenario leaves the connections of the user alone, and clears its faults', async () => {
  const ann = await connected(app, { name: 'ann' })
  await run('outage')
  const kept = { bxcontext: 'harbour-homes', status: 'active' }
  expect(await connectionsOf(app, ann)).toContainEqual(expect.objectContaining(kept))
  const state = await fetch(`${app.platform}/sandbox/faults`, { headers: JSON_ONLY })
  expect(((await state.json()) as { faults: unknown[] }).faults).toEqual([])
})

test('a new demo has a clean sandbox and a fresh user: no connections, flows, results, faults or logins', async () => {
  const alex = await connected(app, { name: 'Alex' })
  await alex.post(`${app.url}/scenarios/denied/run`, JSON_ONLY)
  await app.fault('exchange', '500')
  const answer = await alex.post(`${app.url}/demo`, { form: { name: 'Alex' }, ...JSON_ONLY })
  expect(answer.json()).toEqual({ user: { name: 'Alex' } })
  expect(await connectionsOf(app, alex)).toEqual([])
  expect(await flowsOf(app, alex)).toEqual([])
  const { scenarios } = (await alex.get(`${app.url}/scenarios`, JSON_ONLY)).json()
  expect(scenarios.filter(({ result }: { result: unknown }) => result)).toEqual([])
  expect(await app.calls()).toEqual([])
  // The platform asks for a login again, and nothing fails.
  const start = await alex.follow(await alex.post(`${app.url}/connect`))
  expect(new URL(start.url).pathname).toBe('/login')
  expect((await connected(app, { name: 'Alex' })).cookies.size).toBeGreaterThan(0)
})

test('a visitor starts a new demo by one button of the start page, and is signed in as its user', async () => {
  const visitor = createVisitor()
  const { text } = await visitor.get(app.url)
  expect(text).toMatch(/<form method="post" action="\/demo"[\s\S]*Start a new demo<\/button>/)
  const page = await visitor.follow(await visitor.post(`${app.url}/demo`, { form: { name: 'Alex' } }))
  expect(new URL(page.url).pathname).toBe('/connections')
  expect(page.text).toContain('A new demo: you are Alex')
})

test('a demonstration begins at one address, signed in or out, with the pages for developers hidden or shown', async () => {
  const [visitor, ann] = [createVisitor(), await signedIn(app, 'ann')]
  await ann.post(`${app.url}/customer-view`, { form: { on: 'true' } })
  for (const one of [visitor, ann]) {
    const { text } = await one.get(`${app.url}/demo`)
    expect(text).toMatch(/<form method="post" action="\/demo"[\s\S]*Start a new demo<\/button>/)
    const page = await one.follow(await one.post(`${app.url}/demo`, { form: { name: 'Alex' } }))
    expect(page.text).toContain('A new demo: you are Alex')
    expect(page.text).toContain('Hide the pages for developers')
  }
})

test('without the sandbox there are no scenarios', async () => {
  const other = await startAll({ SANDBOX_URL: '' })
  expect((await createVisitor().get(other.url)).text).not.toContain('Start a new demo')
  const ann = await signedIn(other)
  expect((await ann.get(`${other.url}/scenarios`, JSON_ONLY)).status).toBe(404)
  expect((await ann.get(`${other.url}/connections`)).text).not.toContain('Scenarios')
  await other.close()
})

test('the account of the scenarios is one of the sandbox', () => {
  const sam = ACCOUNTS.find(({ id }) => id === 'sam')
  expect(sam).toMatchObject({ email: 'sam@demo.example', password: 'sandbox' })
  expect(sam?.businesses.map(({ bxcontext }) => bxcontext)).toEqual(['demo-builders', 'demo-renovations'])
})
