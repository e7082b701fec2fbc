import { beforeEach, expect, test, vi } from 'vitest'
import { platform } from '../../../src/connect/index.ts'
import { sharedApp } from '../../support/app.ts'
import { connectionsOf, logIn, newUser, SCOPES, signedIn } from '../../support/flow.ts'
import { type Answer, leadsTo, type Visitor } from '../../support/visitor.ts'
import { flowsOf, flowWith, latestFlow, stepsOf } from './support.ts'

const { leads } = platform.scopes

const app = await sharedApp()
let ann: Visitor
let user: string
beforeEach(async () => {
  user = newUser()
  ann = await signedIn(app, user)
  await logIn(app, ann)
  await turn('true')
})

const turn = (on: string) => ann.post(`${app.url}/flows/step-by-step`, { form: { on } })
const heading = ({ text }: Answer) => /<h1>(.*?)<\/h1>/.exec(text)?.[1]

/** Presses Continue on the page of a pause; resolves to the page at the end. */
async function proceed(pause: Answer): Promise<Answer> {
  expect(new URL(pause.url).pathname, pause.text).toMatch(/^\/flows\/pauses\//)
  return ann.follow(await ann.post(`${pause.url}/continue`))
}

const start = async () => ann.follow(await ann.post(`${app.url}/connect`))

/** Chooses a business on the start page. */
async function choose(page: Answer, bxcontext = 'harbour-homes'): Promise<Answer> {
  const redirectUrl = new URL(page.url).searchParams.get('redirectUrl') ?? ''
  return ann.follow(await ann.post(`${app.platform}/oauth2.html`, { form: { redirectUrl, bxcontext } }))
}

const decide = async (page: Answer, answer = 'accept') =>
  ann.follow(await ann.post(page.url, { form: { answer, scope: SCOPES } }))

const bxcontexts = async () =>
  (await connectionsOf(app, ann)).map(({ bxcontext }: { bxcontext: string }) => bxcontext).sort()

test('a connect flow pauses four times, survives a reload at each, and leaves a right connection', async () => {
  const reload = async (pause: Answer) => {
    const again = await ann.get(pause.url)
    expect(again.status).toBe(200)
    return again
  }
  const beforeStart = await reload(await start())
  expect(heading(beforeStart)).toBe('Next: the platform&#39;s start page')
  const beforeConsent = await reload(await choose(await proceed(beforeStart)))
  expect(heading(beforeConsent)).toBe('Next: the consent page')
  expect(beforeConsent.text).toContain('code_challenge')
  const beforeExchange = await reload(await decide(await proceed(beforeConsent)))
  expect(heading(beforeExchange)).toBe('Next: exchange the code for tokens')
  expect(await bxcontexts()).toEqual([])
  const afterExchange = await reload(await proceed(beforeExchange))
  expect(heading(afterExchange)).toBe('Next: back to your connections')
  // The notice waits for the page of connections.
  expect(afterExchange.text).not.toContain('Harbour Homes is connected.')
  expect(await bxcontexts()).toEqual(['harbour-homes'])
  const end = await proceed(afterExchange)
  expect(end.text).toContain('Harbour Homes is connected.')
  expect(new URL(end.url).pathname).toBe('/connections')
  const flow = await latestFlow(app, ann, 'connect')
  expect(flow.outcome).toBe('connected')
  expect(stepsOf(flow, 'code_exchange')).toHaveLength(1)
})

test('a pause names the next request without the code and the state, and the store holds them encrypted', async () => {
  const consent = await proceed(await choose(await proceed(await start())))
  const answered = await ann.post(consent.url, { form: { answer: 'accept', scope: [leads] } })
  const callback = (await ann.follow(answered, `${app.url}/connect/callback`)).url
  const { searchParams } = new URL(callback)
  const written: string[] = []
  const { store } = app.services
  const { set, compareAndSet } = store
  store.set = (key, value, ttlMs) => {
    written.push(JSON.stringify(key), value)
    return set(key, value, ttlMs)
  }
  store.compareAndSet = (key, expected, next, ttlMs) => {
    written.push(JSON.stringify(key), String(next))
    return compareAndSet(key, expected, next, ttlMs)
  }
  const pause = await ann.follow(await ann.get(callback))
  Object.assign(store, { set, compareAndSet })
  const everything = [pause.text, JSON.stringify([...pause.headers]), ...written].join('\n')
  for (const name of ['code', 'state']) expect(everything).not.toContain(searchParams.get(name))
  expect(written.length).toBeGreaterThan(0)
  const { stage, request } = (await ann.get(pause.url, { accept: 'application/json' })).json()
  expect([stage, request.method, request.url]).toEqual(['exchange', 'GET', `${app.url}/connect/callback`])
  const code = request.parameters.find(({ name }: { name: string }) => name === 'code')
  expect(code.fingerprint).toMatch(/^code:\d+:[\da-f]{6}$/)
})

test('continuing twice, and going back to an earlier pause, exchanges the code once', async () => {
  const beforeStart = await start()
  const beforeConsent = await choose(await proceed(beforeStart))
  const beforeExchange = await decide(await proceed(beforeConsent))
  const [first, second] = await Promise.all([proceed(beforeExchange), proceed(beforeExchange)])
  expect([heading(first), heading(second)]).toEqual(Array(2).fill('Next: back to your connections'))
  // The browser's back button shows the earlier pauses, whose titles say so.
  expect(heading(await ann.get(beforeExchange.url))).toBe('Already continued: exchange the code for tokens')
  expect(new URL((await proceed(beforeStart)).url).pathname).toBe('/oauth2.html')
  expect(await bxcontexts()).toEqual(['harbour-homes'])
  expect(stepsOf(await latestFlow(app, ann, 'connect', 'connected'), 'code_exchange')).toHaveLength(1)
})

test('two tabs pause side by side, and each ends in its own connection', async () => {
  const [one, two] = [await start(), await start()]
  const exchangeOne = await decide(await proceed(await choose(await proceed(one), 'harbour-homes')))
  const exchangeTwo = await decide(await proceed(await choose(await proceed(two), 'harbour-renovations')))
  await proceed(await proceed(exchangeTwo))
  await proceed(await proceed(exchangeOne))
  expect(await bxcontexts()).toEqual(['harbour-homes', 'harbour-renovations'])
})

test('a denied consent, or an exchange that fails, shows at once why it failed', async () => {
  const denied = await decide(await proceed(await choose(await proceed(await start()))), 'deny')
  expect([new URL(denied.url).pathname, denied.status]).toEqual(['/connect/failed', 403])
  const beforeExchange = await decide(await proceed(await choose(await proceed(await start()))))
  await app.fault('exchange', '500', 1)
  expect(new URL((await proceed(beforeExchange)).url).pathname).toBe('/connect/failed')
  expect(await bxcontexts()).toEqual([])
})

test('a second flow of the same business has pauses of its own, and exchanges its own code', async () => {
  const connect = async () => {
    const beforeConsent = await choose(await proceed(await start()))
    const beforeExchange = await decide(await proceed(beforeConsent))
    const afterExchange = await proceed(beforeExchange)
    expect(heading(afterExchange)).toBe('Next: back to your connections')
    return { pauses: [beforeConsent, beforeExchange, afterExchange], end: await proceed(afterExchange) }
  }
  const first = await connect()
  const second = await connect()
  for (const [index, pause] of second.pauses.entries()) {
    expect(pause.url).not.toBe(first.pauses[index]?.url)
    expect(pause.text).not.toContain('You already continued from here')
  }
  expect(second.end.text).toContain('Harbour Homes is connected.')
  await vi.waitFor(async () => {
    const flows = (await flowsOf(app, ann)).filter(({ outcome }) => outcome === 'connected')
    const exchanges = await Promise.all(
      flows.map(async ({ id }) => stepsOf(await flowWith(app, ann, id), 'code_exchange')),
    )
    expect(exchanges.map(({ length }) => length)).toEqual([1, 1])
  })
})

test('a pause belongs to one browser session: neither another user nor another browser sees or ends it', async () => {
  const pause = await start()
  for (const other of [await signedIn(app, newUser()), await signedIn(app, user)]) {
    expect((await other.get(pause.url)).status).toBe(404)
    expect((await other.post(`${pause.url}/continue`)).status).toBe(404)
  }
})

test('a pause that nobody knows, or whose time is over, has a title that says so', async () => {
  const answer = await ann.get(`${app.url}/flows/pauses/unknown`)
  expect([answer.status, heading(answer)]).toEqual([404, 'This pause is over'])
})

test('the mode applies to one browser session, until it is turned off', async () => {
  const other = await signedIn(app, user)
  expect(leadsTo(await other.post(`${app.url}/connect`))).toContain('/oauth2.html')
  await turn('false')
  expect(leadsTo(await ann.post(`${app.url}/connect`))).toContain('/oauth2.html')
})

test('a callback inside an image or a frame does not pause and does not use the code', async () => {
  const consent = await proceed(await choose(await proceed(await start())))
  const answered = await ann.post(consent.url, { form: { answer: 'accept', scope: [leads] } })
  const callback = (await ann.follow(answered, `${app.url}/connect/callback`)).url
  const image = await ann.get(callback, { headers: { 'sec-fetch-dest': 'image' } })
  expect(image.headers.get('location') ?? '').not.toContain('/flows/')
  expect((await ann.follow(image)).status).toBe(400)
  expect(heading(await ann.follow(await ann.get(callback)))).toBe('Next: exchange the code for tokens')
})

test('a forged callback does not pause: the app refuses it at once', async () => {
  await start()
  const forged = await ann.follow(await ann.get(`${app.url}/connect/callback?code=x&state=y`))
  expect(new URL(forged.url).pathname).toBe('/connect/failed')
})

test('a store that cannot keep a pause does not stop the flow: the code leaves the address bar', async () => {
  const consent = await proceed(await choose(await proceed(await start())))
  const pause = await decide(consent)
  const { store } = app.services
  const { compareAndSet } = store
  store.compareAndSet = (key, ...rest) =>
    key.kind === 'flow-pause' ? Promise.reject(new Error('full')) : compareAndSet(key, ...rest)
  const continued = await ann.post(`${pause.url}/continue`)
  const callback = await ann.get(new URL(continued.headers.get('location') ?? '', app.url).href)
  store.compareAndSet = compareAndSet
  expect(callback.status).toBe(303)
  expect(callback.headers.get('location')).not.toContain('code=')
})

test('turning it on, from the page with the longest address, says so in headers that a proxy accepts', async () => {
  const returnTo = '/connections?'.padEnd(2_048, 'q')
  const turned = await ann.post(`${app.url}/flows/step-by-step`, { form: { on: 'true', returnTo } })
  const [location, ...cookies] = [turned.headers.get('location'), ...turned.headers.getSetCookie()]
  expect([location, ...cookies].join('').length).toBeLessThanOrEqual(3_000)
  expect((await ann.follow(turned)).text).toContain('Step by step is on')
})
