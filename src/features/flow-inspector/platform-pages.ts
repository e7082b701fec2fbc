/** What happens on the platform's own pages: the sandbox reports its side; pages of another platform are drawn as not visible. */
import * as z from 'zod'
import type { Platform } from '../../connect/index.ts'
import { type Flow, isPlatformPage, parameterSchema, type Step } from './flow.ts'

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
const answerSchema = z.object({ steps: z.array(z.unknown()) })

const FETCH_MS = 1_000

/** Asks the sandbox over HTTP what happened between two times. Without an answer, the flow is shown without its side. */
async function fetchPageSteps(url: string, query: { key: string; from: number; to: number }) {
  try {
    const response = await fetch(`${url}/sandbox/steps`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(query),
      signal: AbortSignal.timeout(FETCH_MS),
    })
    const { steps } = answerSchema.parse(await response.json())
    return steps.flatMap((step) => pageStepSchema.safeParse(step).data ?? [])
  } catch {
    return []
  }
}

/** A time in which the browser was away on the platform's pages. */
interface Absence {
  start: number
  /** Infinity while it lasts. */
  end: number
  /** Whether the browser left for the consent page, where the `state` identifies the flow. */
  isConsent: boolean
}

function absencesIn(steps: readonly Step[]): Absence[] {
  return steps.flatMap(({ topic, at }, index) => {
    if (topic !== 'to_start_page' && topic !== 'to_consent_page') return []
    const back = steps.slice(index + 1).find((step) => step.from === 'browser' && !isPlatformPage(step))
    const end = back ? Date.parse(back.at) : Number.POSITIVE_INFINITY
    return [{ start: Date.parse(at), end, isConsent: topic === 'to_consent_page' }]
  })
}

/**
 * Finds the steps on the sandbox's pages that a flow does not have yet. From the consent page on, the `state` identifies the
 * flow. Before it, the browser does; if that is not known yet, the only browser that was there at the time. `key`: that of the
 * fingerprints.
 */
export async function findPageSteps(
  { platform, sandboxUrl, key }: { platform: Platform; sandboxUrl: string; key: string },
  flow: Flow,
): Promise<Step[]> {
  const absences = absencesIn(flow.steps)
  const [first, last] = [absences[0], absences.at(-1)]
  if (!first || !last) return []
  const found = await fetchPageSteps(sandboxUrl, {
    key,
    from: first.start,
    to: Math.min(last.end, Date.now()),
  })
  const sent = flow.steps.flatMap(({ response }) => response?.parameters ?? [])
  const states = new Set(sent.flatMap(({ name, fingerprint }) => (name === 'state' && fingerprint) || []))
  const isOurs = ({ state }: PageStep) => state !== undefined && states.has(state)
  const ofConsents = found.filter(isOurs)
  const browsers = new Set((ofConsents.length > 0 ? ofConsents : found).map(({ browser }) => browser))
  const isOfFlow = (step: PageStep) => {
    const at = Date.parse(step.at)
    const absence = absences.find(({ start, end }) => at >= start && at <= end)
    if (step.state !== undefined) return absence !== undefined && isOurs(step)
    return absence?.isConsent === false && browsers.size === 1 && browsers.has(step.browser)
  }
  return found
    .filter(isOfFlow)
    .map((step) => toStep(platform, step))
    .filter(({ at, title }) => !flow.steps.some((known) => known.at === at && known.title === title))
}

/** The pages of the sandbox by how their paths begin, with the titles of opening them and of sending their form. */
const pagesOf = ({ startPage }: Platform) =>
  [
    [startPage.path, 'platform_start', 'The start page', 'The user chooses a business'],
    ['/login', 'platform_login', 'The login page', 'The user logs in'],
    ['/auth/authorize', 'platform_authorize', 'The authorization endpoint', 'The authorization endpoint'],
    ['/consent', 'platform_consent', 'The consent page', 'The user decides'],
  ] as const

function toStep(platform: Platform, { at, ms, method, url, parameters, status, location }: PageStep): Step {
  const { pathname } = new URL(url)
  const page = pagesOf(platform).find(([path]) => pathname.startsWith(path))
  const topic = page?.[1] ?? 'platform_other'
  const title = page?.[method === 'GET' ? 2 : 3] ?? `${method} ${pathname}`
  const isIdentity = topic === 'platform_authorize' || topic === 'platform_consent'
  return {
    at,
    ms,
    from: 'browser',
    to: isIdentity ? 'identity_provider' : 'web_application',
    topic,
    title: title + outcomeOf(platform, location),
    request: { method, url, headers: [], parameters },
    response: {
      status,
      headers: location ? [{ name: 'location', value: location.url }] : [],
      parameters: location?.parameters ?? [],
    },
  }
}

/** What the platform sends back to the app, if it does. */
function outcomeOf({ startPage }: Platform, location: PageStep['location']): string {
  if (!location) return ''
  const has = (name: string) => location.parameters.some((parameter) => parameter.name === name)
  if (new URL(location.url).pathname === '/login') return ': log in first'
  if (has('code')) return ': back to the app with a code'
  if (has('error')) return ': back to the app with an error'
  return has(startPage.bxcontext) ? ': back to the app with the bxcontext' : ''
}

/** Adds a step for each time that the browser was on pages of the platform that cannot be seen from here. */
export function withHiddenPages(steps: readonly Step[], now = Date.now()): Step[] {
  const pages = steps.filter(isPlatformPage).map(({ at }) => Date.parse(at))
  const hidden = absencesIn(steps)
    .filter(({ start, end }) => !pages.some((at) => at >= start && at <= end))
    .map(
      ({ start, end, isConsent }): Step => ({
        at: new Date(start).toISOString(),
        ms: Math.max(0, Math.min(end, now) - start),
        from: 'browser',
        to: isConsent ? 'identity_provider' : 'web_application',
        topic: 'platform_hidden',
        title: `The platform's ${isConsent ? 'consent page' : 'login and start page'}: not visible to this app`,
      }),
    )
  // A stable sort keeps a hidden step behind the redirect that leads to it.
  return [...steps, ...hidden].sort((a, b) => Date.parse(a.at) - Date.parse(b.at))
}
