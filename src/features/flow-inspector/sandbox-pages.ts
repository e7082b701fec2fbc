import * as z from 'zod'
import type { Platform } from '../../connect/index.ts'
import { type Flow, isPlatformPage, type Lane, parameterSchema, type Step, type Topic } from './flow.ts'

const parameters = z.array(parameterSchema).max(100)
/** A request of a browser to a page of the sandbox, as `POST /sandbox/steps` returns it. */
const pageStepSchema = z.object({
  at: z.iso.datetime(),
  ms: z.number().min(0),
  method: z.string(),
  url: z.url(),
  parameters,
  status: z.number().int(),
  location: z.object({ url: z.url(), parameters }).optional(),
  browser: z.string(),
  state: z.string().optional(),
})
type PageStep = z.infer<typeof pageStepSchema>

/** Fetches what happened on the platform's pages between two times (ms since 1970). */
export type FetchPageSteps = (from: number, to: number, key: string) => Promise<PageStep[]>

const FETCH_MS = 1_000

/** Asks the sandbox over HTTP. Without an answer, the flow is shown without the platform's side. */
export function fetchFromSandbox(sandboxUrl: string): FetchPageSteps {
  return async (from, to, key) => {
    try {
      const response = await fetch(`${sandboxUrl}/sandbox/steps`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ key, from, to }),
        signal: AbortSignal.timeout(FETCH_MS),
      })
      const { steps } = z.object({ steps: z.array(z.unknown()) }).parse(await response.json())
      return steps.flatMap((step) => pageStepSchema.safeParse(step).data ?? [])
    } catch {
      return []
    }
  }
}

/** Topics between which the browser is on the platform's pages. */
const LEAVES = new Set<Step['topic']>(['to_start_page', 'to_consent_page'])

interface Absence {
  start: number
  end: number
  /** Whether the browser left for the consent page, where the `state` identifies the flow. */
  isConsent: boolean
}

/** The times in which the browser was away on the platform's pages. A flow that still runs has no last end. */
function absences(steps: readonly Step[]): Absence[] {
  return steps.flatMap((step, index) => {
    if (!LEAVES.has(step.topic)) return []
    const back = steps
      .slice(index + 1)
      .find(({ from, topic }) => from === 'browser' && !isPlatformPage(topic))
    const end = back ? Date.parse(back.at) : Number.POSITIVE_INFINITY
    return [{ start: Date.parse(step.at), end, isConsent: step.topic === 'to_consent_page' }]
  })
}

/**
 * The steps on the platform's pages that a flow does not have yet. From the consent page on, the `state` identifies the
 * flow. Before it, the browser does; if that is not known yet, the only browser that was there at the time.
 */
export async function missingPageSteps(
  platform: Platform,
  flow: Flow,
  fetchSteps: FetchPageSteps,
  key: string,
): Promise<Step[]> {
  const times = absences(flow.steps)
  const [first, last] = [times[0], times.at(-1)]
  if (!first || !last || flow.imported) return []
  const found = await fetchSteps(first.start, Math.min(last.end, Date.now()), key)
  const states = new Set(
    flow.steps
      .flatMap(({ response }) => response?.parameters ?? [])
      .flatMap(({ name, fingerprint }) => (name === 'state' && fingerprint ? fingerprint : [])),
  )
  const isOurs = (step: PageStep) => step.state !== undefined && states.has(step.state)
  const browsers = new Set(found.filter(isOurs).map(({ browser }) => browser))
  if (browsers.size === 0) for (const { browser } of found) browsers.add(browser)
  return found
    .filter((step) => {
      const at = Date.parse(step.at)
      const time = times.find(({ start, end }) => at >= start && at <= end)
      if (!time || step.state !== undefined) return time !== undefined && isOurs(step)
      const isSameBrowser = browsers.size === 1 && browsers.has(step.browser)
      return !time.isConsent && isSameBrowser && !isOfAnotherBusiness(platform, step, flow)
    })
    .map((step) => toStep(platform, step))
    .filter((step) => isNewPage(flow, step))
}

/** Whether a flow does not have this step yet: two readers may have fetched the same pages. */
export const isNewPage = ({ steps }: Flow, step: Step): boolean =>
  !steps.some(({ at, title }) => at === step.at && title === step.title)

/** Whether the user chose a business there that another flow received. */
function isOfAnotherBusiness({ startPage }: Platform, { location }: PageStep, { steps }: Flow): boolean {
  const chosen = location?.parameters.find(({ name }) => name === startPage.bxcontext)?.value
  const received = steps.find(({ topic }) => topic === 'bxcontext_received')?.request?.parameters
  const expected = received?.find(({ name }) => name === startPage.bxcontext)?.value
  return chosen !== undefined && expected !== undefined && chosen !== expected
}

/** Pages of the sandbox by their path, with the titles of opening them and of sending their form. */
const pagesOf = ({
  startPage,
}: Platform): { path: string; lane: Lane; topic: Topic; opened: string; sent: string }[] => [
  {
    path: startPage.path,
    lane: 'web_application',
    topic: 'platform_start',
    opened: 'The start page',
    sent: 'The user chooses a business',
  },
  {
    path: '/login',
    lane: 'web_application',
    topic: 'platform_login',
    opened: 'The login page',
    sent: 'The user logs in',
  },
  {
    path: '/auth/authorize',
    lane: 'identity_provider',
    topic: 'platform_authorize',
    opened: 'The authorization endpoint',
    sent: 'The authorization endpoint',
  },
  {
    path: '/consent',
    lane: 'identity_provider',
    topic: 'platform_consent',
    opened: 'The consent page',
    sent: 'The user decides',
  },
]

function toStep(platform: Platform, { at, ms, method, url, parameters, status, location }: PageStep): Step {
  const { pathname } = new URL(url)
  const page = pagesOf(platform).find(({ path }) => pathname.startsWith(path))
  const title = (method === 'GET' ? page?.opened : page?.sent) ?? `${method} ${pathname}`
  return {
    at,
    ms,
    from: 'browser',
    to: page?.lane ?? 'web_application',
    topic: page?.topic ?? 'platform_other',
    title:
      title +
      answerOf(platform, location?.parameters) +
      (location && new URL(location.url).pathname === '/login' ? ': log in first' : ''),
    request: { method, url, headers: {}, parameters },
    response: {
      status,
      headers: location ? { location: location.url } : {},
      parameters: location?.parameters ?? [],
    },
  }
}

/** What the platform sends back to the app, if it does. */
function answerOf({ startPage }: Platform, parameters: readonly { name: string }[] = []): string {
  const has = (name: string) => parameters.some((parameter) => parameter.name === name)
  if (has('code')) return ': back to the app with a code'
  if (has('error')) return ': back to the app with an error'
  return has(startPage.bxcontext) ? ': back to the app with the bxcontext' : ''
}

/** Adds a step for each time that the browser was on pages of the platform that cannot be seen from here. */
export function withHiddenPages(steps: readonly Step[], now = Date.now()): Step[] {
  const hidden = absences(steps)
    .filter(({ start, end }) => {
      const isSeen = ({ topic, at }: Step) =>
        isPlatformPage(topic) && Date.parse(at) >= start && Date.parse(at) <= end
      return !steps.some(isSeen)
    })
    .map(({ start, end, isConsent }): Step => {
      return {
        at: new Date(start).toISOString(),
        ms: Math.min(end, now) - start,
        from: 'browser',
        to: isConsent ? 'identity_provider' : 'web_application',
        topic: 'platform_hidden',
        title: isConsent
          ? "The platform's consent page: not visible to this app"
          : "The platform's login and start page: not visible to this app",
      }
    })
  const order = (step: Step) => Date.parse(step.at)
  // A stable sort keeps a hidden step behind the redirect that leads to it.
  return [...steps, ...hidden].sort((a, b) => order(a) - order(b))
}
