import { createHmac, randomBytes } from 'node:crypto'
import type { Request, RequestHandler, Response } from 'express'
import { PLATFORM } from '../../platform.ts'

/** A parameter: its value, or the fingerprint of a secret (kind, length, 6 hex digits of a keyed digest). */
type Parameter = { name: string } & ({ value: string } | { fingerprint: string })
type Pairs = [name: string, value: string][]

/** A request of a browser to one of the platform's pages, as it was. */
interface Recorded {
  at: number
  ms: number
  method: string
  url: string
  parameters: Pairs
  status: number
  location: string | undefined
  /** Distinguishes browsers. */
  browser: string
  /** The `state` of the authorization request, from the consent page on. */
  state: string | undefined
}

const AUTHORIZE_PATH = `/auth${PLATFORM.authorizePath}`
const PAGES = [PLATFORM.startPage.path, '/login', '/logout', AUTHORIZE_PATH, '/consent', '/connected-apps']
/** Parameters whose values are no secret; all others are masked. */
const PUBLIC = new Set([
  PLATFORM.startPage.redirectUrl,
  PLATFORM.startPage.bxcontext,
  PLATFORM.bxcontext,
  ...'response_type client_id redirect_uri scope code_challenge code_challenge_method'.split(' '),
  ...'iss error error_description answer'.split(' '),
])
/** Who logs in, and the page that follows. */
const NOT_RECORDED = new Set(['email', 'password', 'next'])
const MAX_RECORDED = 2_000
const MAX_PARAMETERS = 50
const COOKIE = 'platform_browser'

/** Remembers the latest requests to the platform's pages, in memory. */
export function createPageSteps(baseUrl: string) {
  const steps: Recorded[] = []
  /** The state of each consent page, by the id in its address. */
  const stateOfConsent = new Map<string, string>()

  /** The state that a request belongs to. A consent page has an id, which the redirect to it names. */
  function stateOf(url: URL, location: string | undefined): string | undefined {
    const id = consentId(url.pathname)
    const state = url.searchParams.get('state') ?? (id && stateOfConsent.get(id)) ?? undefined
    const next = consentId(new URL(location ?? '/', url).pathname)
    if (state && next) stateOfConsent.set(next, state)
    return state
  }

  const observe: RequestHandler = (req, res, next) => {
    if (!PAGES.some((page) => req.path === page || req.path.startsWith(`${page}/`))) return next()
    const at = Date.now()
    const browser = browserOf(req, res)
    const url = new URL(req.originalUrl, baseUrl)
    res.on('finish', () => {
      const location = res.getHeader('location')?.toString()
      const state = stateOf(url, location)
      if (isInternal(req.method, url, location)) return
      const form = Object.entries((req.body ?? {}) as Record<string, unknown>)
      steps.push({
        at,
        ms: Date.now() - at,
        method: req.method,
        url: url.origin + url.pathname.replace(/^(\/consent|\/auth\/authorize)\/.*$/, '$1'),
        parameters: recorded([...url.searchParams, ...form]),
        status: res.statusCode,
        location: location && URL.parse(location, url.href)?.href,
        browser,
        state,
      })
      if (steps.length > MAX_RECORDED) steps.shift()
      if (stateOfConsent.size > MAX_RECORDED) stateOfConsent.clear()
    })
    next()
  }

  return {
    observe,
    /** The requests between two times (ms since 1970), masked with this key. */
    between: (from: number, to: number, key: string) =>
      steps.filter(({ at }) => at >= from && at <= to).map((step) => maskStep(step, key)),
    clear: () => {
      steps.length = 0
    },
  }
}

const maskStep = (step: Recorded, key: string) => ({
  at: new Date(step.at).toISOString(),
  ms: step.ms,
  method: step.method,
  url: step.url,
  parameters: mask(step.parameters, key),
  status: step.status,
  ...(step.location && { location: redirectOf(step.location, key) }),
  browser: fingerprint('browser', step.browser, key),
  ...(step.state && { state: fingerprint('state', step.state, key) }),
})

/** The identity provider checks the login by redirects between its own pages, which say nothing about the flow. */
const isInternal = (method: string, { pathname }: URL, location: string | undefined) =>
  method === 'GET' &&
  consentId(pathname) !== undefined &&
  consentId(new URL(location ?? '/', 'http://sandbox.invalid').pathname) !== undefined

const consentId = (path: string) => /^\/(?:consent|auth\/authorize)\/([\w-]+)$/.exec(path)?.[1]

function browserOf(req: Request, res: Response): string {
  const [, known] = new RegExp(`\\b${COOKIE}=([\\w-]{22})`).exec(req.get('cookie') ?? '') ?? []
  const browser = known ?? randomBytes(16).toString('base64url')
  if (!known) res.cookie(COOKIE, browser, { httpOnly: true, sameSite: 'lax' })
  return browser
}

function redirectOf(location: string, key: string) {
  const url = new URL(location)
  const path = url.pathname.replace(/^(\/consent|\/auth\/authorize)\/.*$/, '$1')
  return { url: url.origin + path, parameters: mask(recorded(url.searchParams), key) }
}

/** The parameters that may be recorded. */
const recorded = (parameters: Iterable<readonly [string, unknown]>): Pairs =>
  [...parameters]
    .slice(0, MAX_PARAMETERS)
    .flatMap(
      ([name, value]): Pairs =>
        NOT_RECORDED.has(name) || name === '' ? [] : [[name.slice(0, 100), String(value).slice(0, 1000)]],
    )

const mask = (parameters: Pairs, key: string): Parameter[] =>
  parameters.map(([name, value]) =>
    PUBLIC.has(name) ? { name, value } : { name, fingerprint: fingerprint(name, value, key) },
  )

function fingerprint(kind: string, value: string, key: string): string {
  return `${kind.replaceAll(':', '_')}:${value.length}:${createHmac('sha256', key).update(value).digest('hex').slice(0, 6)}`
}
