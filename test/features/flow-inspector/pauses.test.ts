import { beforeEach, expect, test, vi } from 'vitest'
import { texts } from '../../../src/web/texts.ts'
import { sharedApp } from '../../support/app.ts'
import { connectionsOf, logIn, newUser, SCOPES, signedIn } from '../../support/flow.ts'
import { shown } from '../../support/pages.ts'
import { type Answer, leadsTo, type Visitor } from '../../support/visitor.ts'
import { flowsOf, flowWith, latestFlow, stepsOf } from './support.ts'

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
async function proceed(pause: Answer, as = ann): Promise<Answer> {
  const [, href] = /<a class="button primary" href="([^"]+)">Continue</.exec(pause.text) ?? []
  if (href) return as.follow(await as.get(app.url + href.replaceAll('&amp;', '&')))
  const [form = '', action] = /<form method="post" action="([^"]+)">.*?>Continue</.exec(pause.text) ?? []
  expect(action, pause.text).toBeDefined()
  const fields = [...form.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [name, value])
  return as.follow(await as.post(app.url + action, { form: Object.fromEntries(fields) }))
}

const start = async () => ann.follow(await ann.post(`${app.url}/connect`))

/** Chooses a business on the start page. */
async function choose(page: Answer, bxcontext = 'harbour-homes'): Promise<Answer> {
  const redirectUrl = new URL(page.url).searchParams.get('redirectUrl') ?? ''
  return ann.follow(await ann.post(`${app.platform}/oauth2.html`, { form: { redirectUrl, bxcontext } }))
}

const decide = async (page: Answer, answer = 'accept') =>
  ann.follow(await ann.post(page.url, { form: { answer, scope: SCOPES } }))

/** Goes to the pause before the exchange. */
const toExchange = async () => decide(await proceed(await choose(await proceed(await start()))))

/** Goes to the consent page and allows; resolves to the callback, which is not opened. */
async function toCallback(): Promise<string> {
  const consent = await proceed(await choose(await proceed(await start())))
  const answered = await ann.post(consent.url, { form: { answer: 'accept', scope: SCOPES } })
  return (await ann.follow(answered, `${app.url}/connect/callback`)).url
}

const bxcontexts = async () =>
  (await connectionsOf(app, ann)).map(({ bxcontext }: { bxcontext: string }) => bxcontext).sort()

test('a connect flow does not pause while the pages for developers are hidden', async () => {
  await ann.post(`${app.url}/customer-view`, { form: { on: 'true' } })
  expect((await start()).url).toMatch(new RegExp(`^${app.platform}`))
})

test('a connect flow pauses before each request that matters, and leaves a right connection', async () => {
  const beforeStart = await start()
  expect(heading(beforeStart)).toBe("Next: the platform's start page")
  expect(beforeStart.text).toContain(`${app.platform}/oauth2.html`)
  const beforeConsent = await choose(await proceed(beforeStart))
  expect(heading(beforeConsent)).toBe('Next: the consent page')
  expect(beforeConsent.text).toContain('code_challenge')
  const beforeExchange = await decide(await proceed(beforeConsent))
  expect(heading(beforeExchange)).toBe('Next: exchange the code for tokens')
  expect(await bxcontexts()).toEqual([])
  const end = await proceed(beforeExchange)
  expect(end.text).toContain(shown(texts.notices.connected('Harbour Homes')))
  expect(new URL(end.url).pathname).toBe('/connections')
  expect(await bxcontexts()).toEqual(['harbour-homes'])
  const flow = await latestFlow(app, ann, 'connect')
  expect(flow.outcome).toBe('connected')
  expect(stepsOf(flow, 'code_exchange')).toHaveLength(1)
})

test('a pause can be reloaded, and shows the fingerprint of the state that then is sent', async () => {
  const beforeConsent = await choose(await proceed(await start()))
  const [shown, again] = [beforeConsent, await ann.get(beforeConsent.url)].map(
    ({ text }) => /<code>([\da-f]{6})<\/code> <span class="hint">state, 43 characters/.exec(text)?.[1],
  )
  expect(shown).toMatch(/^[\da-f]{6}$/)
  expect(again).toBe(shown)
  await proceed(await decide(await proceed(beforeConsent)))
  const [sent] = stepsOf(await latestFlow(app, ann, 'connect', 'connected'), 'to_consent_page')
  const state = sent?.response?.parameters.find(({ name }) => name === 'state')
  expect(state?.fingerprint).toContain(shown)
})

test('a pause names the next request without the code and the state, which are not in its address either', async () => {
  const callback = await toCallback()
  const { searchParams } = new URL(callback)
  const pause = await ann.follow(await ann.get(callback))
  const everything = [pause.url, pause.text, JSON.stringify([...pause.headers])].join('\n')
  for (const name of ['code', 'state']) expect(everything).not.toContain(searchParams.get(name))
  expect(pause.text).toContain(`GET</strong> ${app.url}/connect/callback</code>`)
  expect(pause.text).toMatch(/<code>[\da-f]{6}<\/code> <span class="hint">code, \d+ characters/)
})

test('continuing twice, and going back to an earlier pause, exchanges the code once', async () => {
  const beforeStart = await start()
  const beforeExchange = await decide(await proceed(await choose(await proceed(beforeStart))))
  const ends = await Promise.all([proceed(beforeExchange), proceed(beforeExchange)])
  expect(ends.map(({ url }) => new URL(url).pathname)).toEqual(['/connections', '/connections'])
  expect(new URL((await proceed(beforeStart)).url).pathname).toBe('/oauth2.html')
  expect(await bxcontexts()).toEqual(['harbour-homes'])
  expect(stepsOf(await latestFlow(app, ann, 'connect', 'connected'), 'code_exchange')).toHaveLength(1)
})

test('two tabs pause side by side, and each ends in its own connection', async () => {
  const exchangeOne = await decide(await proceed(await choose(await proceed(await start()), 'harbour-homes')))
  const exchangeTwo = await decide(
    await proceed(await choose(await proceed(await start()), 'harbour-renovations')),
  )
  await proceed(exchangeTwo)
  await proceed(exchangeOne)
  expect(await bxcontexts()).toEqual(['harbour-homes', 'harbour-renovations'])
})

test('a denied consent, or an exchange that fails, shows at once why it failed', async () => {
  const denied = await decide(await proceed(await choose(await proceed(await start()))), 'deny')
  expect([new URL(denied.url).pathname, denied.status]).toEqual(['/connect/failed', 403])
  const beforeExchange = await toExchange()
  await app.fault('exchange', '500', 1)
  expect(new URL((await proceed(beforeExchange)).url).pathname).toBe('/connect/failed')
  expect(await bxcontexts()).toEqual([])
})

test('a second flow of the same business pauses as well, and exchanges its own code', async () => {
  for (const _flow of [1, 2])
    expect((await proceed(await toExchange())).text).toContain(
      shown(texts.notices.connected('Harbour Homes')),
    )
  await vi.waitFor(async () => {
    const flows = (await flowsOf(app, ann)).filter(({ outcome }) => outcome === 'connected')
    const exchanges = await Promise.all(
      flows.map(async ({ id }) => stepsOf(await flowWith(app, ann, id), 'code_exchange')),
    )
    expect(exchanges.map(({ length }) => length)).toEqual([1, 1])
  })
})

test('a pause with a code belongs to one browser session: neither another user nor another browser sees or ends it', async () => {
  const pause = await toExchange()
  for (const other of [await signedIn(app, newUser()), await signedIn(app, user)]) {
    expect((await other.get(pause.url)).status).toBe(404)
    expect((await other.post(`${pause.url}/continue`)).status).toBe(404)
  }
  expect((await ann.get(`${app.url}/flows/pauses/unknown`)).status).toBe(404)
})

test('the mode applies to one browser session, until it is turned off', async () => {
  const other = await signedIn(app, user)
  expect(leadsTo(await other.post(`${app.url}/connect`))).toContain('/oauth2.html')
  await turn('false')
  expect(leadsTo(await ann.post(`${app.url}/connect`))).toContain('/oauth2.html')
})

test('a callback inside an image or a frame does not pause and does not use the code', async () => {
  const callback = await toCallback()
  const image = await ann.get(callback, { headers: { 'sec-fetch-dest': 'image' } })
  expect(image.headers.get('location') ?? '').not.toContain('/flows/')
  expect((await ann.follow(image)).status).toBe(400)
  expect(heading(await ann.follow(await ann.get(callback)))).toBe('Next: exchange the code for tokens')
})

test('a forged callback, or a business that nobody asked for, does not pause: the app refuses it at once', async () => {
  expect((await ann.get(`${app.url}/connect/context?bxcontext=planted`)).status).toBe(400)
  await start()
  const forged = await ann.follow(await ann.get(`${app.url}/connect/callback?code=x&state=y`))
  expect(new URL(forged.url).pathname).toBe('/connect/failed')
})

test('turning it on, from the page with the longest address, says so in headers that a proxy accepts', async () => {
  const returnTo = '/connections?'.padEnd(2_048, 'q')
  const turned = await ann.post(`${app.url}/flows/step-by-step`, { form: { on: 'true', returnTo } })
  const [location, ...cookies] = [turned.headers.get('location'), ...turned.headers.getSetCookie()]
  expect([location, ...cookies].join('').length).toBeLessThanOrEqual(3_000)
  expect((await ann.follow(turned)).text).toContain('Step by step is on')
})
