import { onTestFinished, vi } from 'vitest'
import { featureOptions, loadFeatures } from '../../src/features/load.ts'
import type { Running } from './app.ts'
import { textOfPage } from './page-text.ts'
import { probe } from './probe.ts'
import { type Answer, createVisitor, type Visitor } from './visitor.ts'

const features = await loadFeatures()

/** The scopes that the app asks for, including the scope of the feature for tests. */
export const { scopes: SCOPES } = featureOptions([...features, probe])

/** The addresses of the app and the sandbox. */
type Addresses = Pick<Running, 'url' | 'platform'>

let users = 0
/** A new user name, which no other test of this worker uses. */
export const newUser = () => `user-${++users}`

/** Moves the clock of everything in this process forward until the end of the test. */
export function later(seconds: number): void {
  vi.useFakeTimers({ toFake: ['Date'], shouldAdvanceTime: true, now: Date.now() + seconds * 1000 })
  onTestFinished(() => void vi.useRealTimers())
}

/** Makes a call twice, a minute apart, because the app is sure that access has ended only after the second refusal. */
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

/** Presses Connect and walks to the return with a bxcontext. Resolves to that URL, without opening it. */
export async function toBxcontext(
  app: Addresses,
  visitor: Visitor,
  bxcontext = 'harbour-homes',
  email?: string,
): Promise<string> {
  await logIn(app, visitor, email)
  const returned = `${app.url}/connect/context`
  const started = await visitor.follow(await visitor.post(`${app.url}/connect`), returned)
  // The platform doesn't ask a user with a single business to choose.
  if (started.url.startsWith(returned)) return started.url
  const redirectUrl = new URL(started.url).searchParams.get('redirectUrl') ?? ''
  const chosen = await visitor.post(`${app.platform}/oauth2.html`, { form: { redirectUrl, bxcontext } })
  return new URL(chosen.headers.get('location') ?? '', chosen.url).href
}

/** Walks through the flow up to the consent page. */
export async function toConsent(
  app: Addresses,
  visitor: Visitor,
  bxcontext?: string,
  email?: string,
): Promise<Answer> {
  return visitor.follow(await visitor.get(await toBxcontext(app, visitor, bxcontext, email)))
}

/** Walks through the flow up to the callback, and resolves to its URL with the code and the state, without opening it. */
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

/** Walks through the whole flow. Resolves to a signed-in visitor with a connection. */
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
