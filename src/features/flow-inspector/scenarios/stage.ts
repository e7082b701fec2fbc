/** What scenarios act on: the app, the sandbox, and a browser of the user, all over HTTP. */
import type { ConnectionRef, Platform, Vault } from '../../../connect/index.ts'
import type { ConnectionView } from '../../../web/connection-view.ts'
import type { Flow, Summary } from '../flow.ts'
import { type Browser, createBrowser, JSON_TYPE, type Page } from './browser.ts'
import { createSandboxControl } from './sandbox-control.ts'

/** The account of the sandbox that scenarios use, so that they leave other connections alone. */
const ACCOUNT = { email: 'sam@demo.example', password: 'sandbox' }
export const BUSINESS = 'demo-builders'
export const OTHER_BUSINESS = 'demo-renovations'

export interface StageOptions {
  platform: Pick<Platform, 'startPage'>
  appUrl: string
  sandboxUrl: string
  user: { id: string; name: string }
  vault: Pick<Vault, 'accessToken'>
  scopes: readonly string[]
  /** The flows that were recorded since a time, the first one first. */
  flowsSince(time: number): Promise<{ summary: Summary; flow: Flow }[]>
}

type ConsentAnswer = 'accept' | 'deny'

export type Stage = Awaited<ReturnType<typeof createStage>>

/** Longer than the pause after a first failed refresh, in ms. */
export const BACKOFF_MS = 1_300

/** Prepares a scenario: a browser that is signed in to the app and logged in to the sandbox, no faults, no connection. */
export async function createStage(options: StageOptions) {
  const { appUrl, sandboxUrl, user, vault, scopes } = options
  const browser = createBrowser()
  const bxcontextUrl = `${appUrl}/connect/context`
  const callbackUrl = `${appUrl}/connect/callback`
  const pathOf = (bxcontext: string) => `${appUrl}/connections/${bxcontext}`

  async function connections(): Promise<ConnectionView[]> {
    return JSON.parse((await browser.get(`${appUrl}/connections`, JSON_TYPE)).text).connections
  }

  const sandbox = createSandboxControl(browser, sandboxUrl, [BUSINESS, OTHER_BUSINESS])
  const stage = {
    ...options,
    sandbox,
    bxcontextUrl,
    /** Presses “Connect an account” and chooses a business; stops before the browser is back at the app. */
    chooseBusiness: (bxcontext = BUSINESS, reconnect?: string) =>
      chooseBusiness(options, browser, bxcontext, reconnect),
    /** Answers the consent page; stops before the callback. */
    async consent(returnUrl: string, answer: ConsentAnswer = 'accept', scope = scopes): Promise<string> {
      const page = await browser.follow(await browser.get(returnUrl))
      const answered = await browser.post(page.url, { answer, scope })
      return (await browser.follow(answered, callbackUrl)).url
    },
    /** Opens an address of the app as a browser does; resolves to the page at its end. */
    open: async (url: string): Promise<Page> => browser.follow(await browser.get(url)),
    /** The whole connect flow; resolves to the page at its end. */
    async connect({ bxcontext = BUSINESS, answer = 'accept' as ConsentAnswer, granted = scopes } = {}) {
      return stage.open(await stage.consent(await stage.chooseBusiness(bxcontext), answer, granted))
    },
    /** The code of the problem that an address answers, or its status. */
    problemAt: (url: string, method: 'get' | 'post' = 'get') => problemAt(browser, url, method),
    /** Makes an API call by “Test this connection”; resolves to `200` or the code of the problem. */
    callApi: () => stage.problemAt(`${pathOf(BUSINESS)}/test`, 'post'),
    connections,
    connection: async (bxcontext = BUSINESS) =>
      (await connections()).find((connection) => connection.bxcontext === bxcontext),
    async disconnect(bxcontext: string): Promise<void> {
      await browser.post(`${pathOf(bxcontext)}/disconnect`, {}, JSON_TYPE)
    },
    /** This many callers ask the vault for a token at once; resolves to what each got. */
    async callVault(callers: number) {
      const ref: ConnectionRef = { userId: user.id, bxcontext: BUSINESS }
      return Promise.allSettled(Array.from({ length: callers }, () => vault.accessToken(ref)))
    },
    /** How many requests the token endpoint of the platform received since the preparation. */
    tokenRequests: (endpoint: 'exchange' | 'refresh') => sandbox.tokenRequests(endpoint, stage.startedAt),
    /** The flows of this scenario so far. */
    flows: () => options.flowsSince(stage.startedAt),
    /** When the preparation was over, in ms since 1970. */
    startedAt: 0,
  }

  await sandbox.clearFaults()
  await signIn(options, browser)
  for (const bxcontext of [BUSINESS, OTHER_BUSINESS]) await stage.disconnect(bxcontext)
  stage.startedAt = Date.now()
  return stage
}

/** Signs in to the app, and logs in to the sandbox. */
async function signIn({ appUrl, sandboxUrl, user }: StageOptions, browser: Browser): Promise<void> {
  await browser.post(`${appUrl}/sign-in`, { name: user.name })
  await browser.post(`${sandboxUrl}/login`, ACCOUNT)
}

async function chooseBusiness(
  { appUrl, sandboxUrl, platform: { startPage } }: StageOptions,
  browser: Browser,
  bxcontext: string,
  reconnect: string | undefined,
): Promise<string> {
  const started = await browser.post(`${appUrl}/connect`, reconnect ? { bxcontext: reconnect } : {})
  const start = await browser.follow(started)
  const redirectUrl = new URL(start.url).searchParams.get(startPage.redirectUrl) ?? ''
  const chosen = await browser.post(`${sandboxUrl}${startPage.path}`, { redirectUrl, bxcontext })
  return chosen.location ?? ''
}

async function problemAt(browser: Browser, url: string, method: 'get' | 'post'): Promise<string> {
  const { text, status } =
    method === 'get' ? await browser.get(url, JSON_TYPE) : await browser.post(url, {}, JSON_TYPE)
  return status < 400 ? String(status) : JSON.parse(text).code
}
