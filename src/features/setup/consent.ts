/** One consent in the browser, and the calls that the app makes with it. Tokens stay in memory. */
import express, { type Express } from 'express'
import {
  createApi,
  platform,
  randomCodeVerifier,
  randomState,
  redirectUrls,
  type TokenSource,
  type Tokens,
} from '../../connect/index.ts'
import { type Feature, type Finding, securityHeaders } from '../../web/feature-api.ts'
import { failure, ok, warning } from './findings.ts'
import { oauthOf, type Target } from './platform/target.ts'

const [CONTEXT_PATH, CALLBACK_PATH] = redirectUrls('')
const COOKIE = 'connect_doctor'

/** The features whose `connectionTest` runs, if its scope was granted. */
type Features = readonly Pick<Feature, 'connectionTest'>[]

/**
 * Serves the app's own addresses, because only they are registered with the platform. `/` leads to the platform. A consent must end
 * in the browser in which it began, so a cookie carries its state. `onChecked` gets the findings once the browser has them.
 */
export function createConsentServer(
  target: Target,
  features: Features,
  onChecked: (findings: Finding[]) => void,
): Express {
  const { baseUrl } = target
  const oauth = oauthOf(target)
  const [contextUrl, redirectUri] = redirectUrls(baseUrl)
  let asked: { bxcontext: string; state: string; codeVerifier: string } | undefined
  const app = express().disable('x-powered-by').use(securityHeaders(baseUrl))
  app.get('/', (_req, res) => res.redirect(303, oauth.startUrl(contextUrl).href))
  app.get(CONTEXT_PATH, (req, res) => {
    const { data: bxcontext } = platform.bxcontextSchema.safeParse(req.query[platform.startPage.bxcontext])
    if (bxcontext === undefined)
      return void res.status(400).type('text').send('The platform returned without a usable bxcontext.\n')
    asked = { bxcontext, state: randomState(), codeVerifier: randomCodeVerifier() }
    const secure = baseUrl.startsWith('https:')
    res.cookie(COOKIE, asked.state, { httpOnly: true, sameSite: 'lax', secure })
    res.redirect(303, oauth.authorizationUrl({ ...asked, redirectUri }).href)
  })
  app.get(CALLBACK_PATH, async (req, res) => {
    const flow = asked
    const callback = new URL(req.originalUrl, baseUrl).searchParams
    const cookies = (req.get('cookie') ?? '').split(/;\s*/)
    if (flow?.state !== callback.get('state') || !cookies.includes(`${COOKIE}=${flow.state}`))
      return void res
        .status(400)
        .type('text')
        .send(`Open ${baseUrl} in this browser, and give consent there.\n`)
    asked = undefined
    const [code, iss] = ['code', 'iss'].map((name) => callback.get(name) ?? undefined)
    const findings =
      code === undefined
        ? [deniedFinding(callback.get('error') ?? 'no code')]
        : await useCode(target, features, { ...flow, code, iss, redirectUri })
    const lines = findings.map(({ status, text }) => `${status}: ${text}\n`)
    res.once('finish', () => onChecked(findings))
    res.type('text').send(`${lines.join('')}You can close this page.\n`)
  })
  return app
}

function deniedFinding(error: string): Finding {
  const returned = error.replace(/[^\w .-]/g, '').slice(0, 60)
  const text = `the consent page returned ${returned}. If you did not deny the consent, compare these settings with your registration`
  return failure('consent.denied', 'PLATFORM_CLIENT_ID, BASE_URL, PLATFORM_SCOPES', text)
}

interface Grant {
  code: string
  iss: string | undefined
  redirectUri: string
  bxcontext: string
  codeVerifier: string
}

/** Repeats the app's calls with a code: exchanges it, refreshes, and calls the API for each feature. Ends at the first failure. */
async function useCode(target: Target, features: Features, grant: Grant): Promise<Finding[]> {
  const found: Finding[] = []
  const oauth = oauthOf(target)
  let step = 'the code was not exchanged'
  try {
    const tokens = await oauth.exchangeCode(grant)
    found.push(ok('exchange', 'consent: the code was exchanged for a token'))
    const { refreshToken } = tokens
    step = 'the token was not refreshed'
    const next = refreshToken === undefined ? tokens : await oauth.refresh({ ...grant, refreshToken })
    found.push(refreshFinding(target, refreshToken, next))
    const scopes = next.scopes ?? tokens.scopes
    const api = createApi({ platform, baseUrl: target.apiUrl, http: target.client.http })
    for (const { connectionTest: test } of features) {
      if (!test || scopes?.includes(test.scope) === false) continue
      step = `a call with the scope ${test.scope} failed`
      const { call, summary } = await test.run(api, sourceOf(next.accessToken, scopes))
      found.push(ok('call', `PLATFORM_API_URL: ${call}: ${summary}`))
    }
  } catch (error) {
    const text = `${step}: ${(error as Error).message}. Compare docs/assumptions.md with the platform's documentation`
    found.push(failure('consent.failed', 'PLATFORM_AUTH_URL, PLATFORM_API_URL', text))
  }
  return found
}

/** The finding about a refresh with `sent`; undefined if the platform issued no refresh token. */
function refreshFinding(
  { platform }: Target,
  sent: string | undefined,
  { refreshToken = sent }: Tokens,
): Finding {
  if (sent === undefined) {
    const text =
      'the platform issued no refresh token, so each connection ends with its access token. Add offline_access, if the platform knows it'
    return warning('refresh.none', 'PLATFORM_SCOPES', text)
  }
  const isRotated = refreshToken !== sent && platform.refreshTokens === 'reused'
  if (!isRotated) return ok('refresh', 'consent: the token was refreshed')
  const text =
    "consent: a refresh brings a new refresh token. Set refreshTokens to 'rotated' in src/connect/platform/contract.ts, or two refreshes at once may lose it"
  return { id: 'refresh.rotated', status: 'failure', text }
}

const sourceOf = (token: string, scopes: readonly string[] | undefined): TokenSource => ({
  accessToken: async () => token,
  refresh: () => Promise.reject(new Error('the API answered 401 to a token that was just issued')),
  grantedScopes: async () => scopes ?? null,
  noteCall: async () => {},
})
