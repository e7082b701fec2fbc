import { onTestFinished, vi } from 'vitest'
import { featureOptions, loadFeatures } from '../../src/features/load.ts'
import type { Running } from './app.ts'
import { textOfPage } from './page-text.ts'
import { probe } from './probe.ts'
import { type Answer, createVisitor, type Visitor } from './visitor.ts'

const features = await loadFeatures()

/** The scopes that the app asks for: those of the features, and of the one that only tests have. */
export const { scopes: SCOPES } = featureOptions([...features, probe])

/** Where the app and the sandbox are. */
type Addresses = Pick<Running, 'url' | 'platform'>

let users = 0
/** The name of a user whom no other test of this worker knows. */
export const newUser = () => `user-${++users}`

/** Moves the clock of everything in this process forward until the end of the test. */
export function later(seconds: number): void {
  vi.useFakeTimers({ toFake: ['Date'], shouldAdvanceTime: true, now: Date.now() + seconds * 1000 })
  onTestFinished(() => void vi.useRealTimers())
}

/** Makes a call twice, a minute apart: only then is an end of access on the platform certain. */
export async function aMinuteApart(call: () => Promise<unknown>): Promise<void> {
  await call()
  later(61)
  await call()
}

/** A visitor who is signed in to the app. */
export async function signedIn(app: Addresses, name = 'ann'): Promise<Visitor> {
  const visitor = createVisitor()
  await visitor.post(`${app.url}/sign-in`, { form: { name } })
  return visitor
}

/** Logs a visitor in to the sandbox. */
export async function logIn(
  app: Addresses,
  visitor: Visitor,
  email = 'olivia@harbour.example',
): Promise<void> {
  await visitor.post(`${app.platform}/login`, { form: { email, password: 'sandbox' } })
}

/** Presses Connect and goes as far as the return with bxcontext; resolves to that url, not yet opened. */
export async function toBxcontext(
  app: Addresses,
  visitor: Visitor,
  bxcontext = 'harbour-homes',
  email?: string,
): Promise<string> {
  await logIn(app, visitor, email)
  const returned = `${app.url}/connect/context`
  const started = await visitor.follow(await visitor.post(`${app.url}/connect`), returned)
  // Whoever has one business is not asked which.
  if (started.url.startsWith(returned)) return started.url
  const redirectUrl = new URL(started.url).searchParams.get('redirectUrl') ?? ''
  const chosen = await visitor.post(`${app.platform}/oauth2.html`, { form: { redirectUrl, bxcontext } })
  return new URL(chosen.headers.get('location') ?? '', chosen.url).href
}

/** As far as the consent page. */
export async function toConsent(
  app: Addresses,
  visitor: Visitor,
  bxcontext?: string,
  email?: string,
): Promise<Answer> {
  return visitor.follow(await visitor.get(await toBxcontext(app, visitor, bxcontext, email)))
}

/** As far as the callback; resolves to its url with code and state, not yet opened. */
export async function toCallback(
  app: Addresses,
  visitor: Visitor,
  {
    bxcontext,
    email,
    form = { answer: 'accept', scope: SCOPES },
  }: { bxcontext?: string; email?: string | undefined; form?: Record<string, string | string[]> } = {},
): Promise<string> {
  const consent = await toConsent(app, visitor, bxcontext, email)
  const answered = await visitor.post(consent.url, { form })
  return (await visitor.follow(answered, `${app.url}/connect/callback`)).url
}

/** The whole way: a signed-in visitor with a connection. */
export async function connected(
  app: Addresses,
  {
    name = 'ann',
    bxcontext = 'harbour-homes',
    email,
    scopes = SCOPES,
  }: { name?: string; bxcontext?: string; email?: string; scopes?: readonly string[] } = {},
): Promise<Visitor> {
  const visitor = await signedIn(app, name)
  const form = { answer: 'accept', scope: [...scopes] }
  const { status, text } = await visitor.get(await toCallback(app, visitor, { bxcontext, email, form }))
  if (status !== 303) throw new Error(`The account was not connected (${status}):\n${textOfPage(text)}`)
  return visitor
}

/** The signed-in visitor's connections, as JSON. */
export async function connectionsOf(app: Addresses, visitor: Visitor) {
  const answer = await visitor.get(`${app.url}/connections`, { accept: 'application/json' })
  return answer.json().items
}
