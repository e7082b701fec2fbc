/** The environment of scenarios: the app and the sandbox (over HTTP, as a browser), and the app's vault and recorded flows. */
import * as z from 'zod'
import type { Connect, InternalUrls } from '../../../connect/index.ts'
import { type ConnectionJson, type User, webTexts } from '../../../web/feature-api.ts'
import type { FlowStore } from '../flow-store.ts'
import { Browser, JSON_TYPE, type Page } from './browser.ts'

/** The sandbox account for scenarios, so that they don't affect other connections. */
const ACCOUNT = { email: 'sam@demo.example', password: 'sandbox' }
export const BUSINESS = 'demo-builders'
export const OTHER_BUSINESS = 'demo-renovations'
const BUSINESSES = [BUSINESS, OTHER_BUSINESS]

export interface StageOptions {
  connect: Connect
  flows: FlowStore
  /** Stores every step recorded so far. */
  flush(): Promise<void>
  baseUrl: string
  sandboxUrl: string
  /** The addresses at which this server reaches the app and the sandbox. */
  internalUrls: InternalUrls
}

type ConsentAnswer = 'accept' | 'deny'

export type Stage = Awaited<ReturnType<typeof createStage>>

/** Longer than the pause after a first failed refresh, in ms. */
export const BACKOFF_MS = 1_300

const callSchema = z.object({ at: z.string(), endpoint: z.string(), bxcontext: z.string().optional() })
const controlSchema = z.object({ calls: z.array(callSchema) })

/** Prepares a scenario: signs a browser in to the app and the sandbox, clears all faults, and disconnects the businesses. */
export async function createStage(options: StageOptions, user: User) {
  const { connect, flows, baseUrl: appUrl, sandboxUrl } = options
  const { startPage } = connect.platform
  const { scopes } = connect.oauth
  const browser = new Browser(options.internalUrls)
  const sandbox = createSandboxControl(browser, sandboxUrl)
  await sandbox.clearFaults()
  await browser.post(`${appUrl}/sign-in`, { name: user.name })
  await browser.post(`${sandboxUrl}/login`, ACCOUNT)
  for (const bxcontext of BUSINESSES)
    await browser.post(`${appUrl}/connections/${bxcontext}/disconnect`, {}, JSON_TYPE)
  const startedAt = Date.now()

  const stage = {
    ...sandbox,
    ...observer(options, browser, user),
    scopes,
    /** The target of a link with a planted bxcontext. */
    contextUrl: (bxcontext: string) =>
      `${appUrl}/connect/context?${new URLSearchParams({ [startPage.bxcontext]: bxcontext })}`,
    /** Presses “Connect a business” and chooses a business; stops before the browser is back at the app. */
    async chooseBusiness(bxcontext = BUSINESS, reconnect?: string): Promise<string> {
      const started = await browser.post(`${appUrl}/connect`, reconnect ? { bxcontext: reconnect } : {})
      const start = await browser.follow(started)
      const redirectUrl = new URL(start.url).searchParams.get(startPage.redirectUrl) ?? ''
      const chosen = await browser.post(`${sandboxUrl}${startPage.path}`, { redirectUrl, bxcontext })
      return chosen.location ?? ''
    },
    /** Answers the consent page; stops before the callback. */
    async consent(returnUrl: string, answer: ConsentAnswer = 'accept', scope = scopes): Promise<string> {
      const page = await browser.follow(await browser.get(returnUrl))
      const answered = await browser.post(page.url, { answer, scope })
      return (await browser.follow(answered, `${appUrl}/connect/callback`)).url
    },
    /** Opens an address of the app as a browser does; resolves to the final page. */
    open: async (url: string): Promise<Page> => browser.follow(await browser.get(url)),
    /** Goes through the whole connect flow; resolves to the final page. */
    async connect({ answer = 'accept' as ConsentAnswer, granted = scopes } = {}): Promise<Page> {
      return stage.open(await stage.consent(await stage.chooseBusiness(), answer, granted))
    },
    /** How many such requests the platform's token endpoint has received since the scenario was prepared. */
    tokenRequests: (endpoint: 'exchange' | 'refresh') => sandbox.countCalls(endpoint, startedAt),
    /** The flows of this scenario so far, oldest first. */
    async flows() {
      await options.flush()
      const summaries = (await flows.list(user.id)).filter((flow) => Date.parse(flow.startedAt) >= startedAt)
      const found = summaries.toReversed().map(async (summary) => {
        const flow = await flows.find(user.id, summary.id)
        return flow ? [{ summary, flow }] : []
      })
      return (await Promise.all(found)).flat()
    },
  }
  return stage
}

/** Queries about the app for scenarios. */
function observer({ baseUrl: appUrl, connect }: StageOptions, browser: Browser, user: User) {
  async function connection(bxcontext = BUSINESS): Promise<ConnectionJson | undefined> {
    const { text } = await browser.get(`${appUrl}/connections`, JSON_TYPE)
    const { items }: { items: ConnectionJson[] } = JSON.parse(text)
    return items.find((one) => one.bxcontext === bxcontext)
  }

  return {
    connection,
    /** The badge of a connection. */
    async badge(bxcontext?: string) {
      const found = await connection(bxcontext)
      return found ? webTexts.status[found.status] : 'not connected'
    },
    /** The problem code in the response of an address, or else its status. */
    problemAt: async (url: string) => problemOf(await browser.get(url, JSON_TYPE)),
    /** Makes an API call by “Test this connection”; resolves to `200` or the code of the problem. */
    callApi: async () =>
      problemOf(await browser.post(`${appUrl}/connections/${BUSINESS}/test`, {}, JSON_TYPE)),
    /** Lets this many callers ask the vault for a token at once; resolves to the result of each caller. */
    async callVault(callers: number) {
      const ref = { userId: user.id, bxcontext: BUSINESS }
      return Promise.allSettled(Array.from({ length: callers }, () => connect.vault.accessToken(ref)))
    },
  }
}

const problemOf = ({ status, text }: Page): string => (status < 400 ? String(status) : JSON.parse(text).code)

/** Actions of a scenario on the sandbox, for its own businesses. */
function createSandboxControl(browser: Browser, sandboxUrl: string) {
  const post = (path: string, form: Record<string, string> = {}) =>
    browser.post(`${sandboxUrl}/sandbox/${path}`, form, JSON_TYPE)
  return {
    /** Sets a fault for the next call. The sandbox ignores an endpoint that it does not have. */
    fault: (endpoint: string, fault: string) =>
      post('faults', { endpoint, fault, times: '1', retryAfter: '1' }),
    clearFaults: () => post('faults/clear'),
    /** Expires the access tokens of the business. */
    expire: () => post('expire', { bxcontext: BUSINESS }),
    /** Revokes the consents of the business. */
    revoke: () => post('revoke', { bxcontext: BUSINESS }),
    /** How many such requests the platform has received for the businesses since a time (ms since 1970). */
    async countCalls(endpoint: 'exchange' | 'refresh', since: number): Promise<number> {
      const { text } = await browser.get(`${sandboxUrl}/sandbox/faults`, JSON_TYPE)
      return controlSchema
        .parse(JSON.parse(text))
        .calls.filter((call) => call.endpoint === endpoint && Date.parse(call.at) >= since)
        .filter(({ bxcontext = '' }) => BUSINESSES.includes(bxcontext)).length
    },
  }
}
