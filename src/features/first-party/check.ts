import { randomBytes } from 'node:crypto'
import { type HttpResponse, parseJson } from '../../connect/index.ts'
import { isSandboxSecret } from '../../settings/fields.ts'
import type { CheckContext, Finding } from '../tools.ts'
import { firstPartyTokensSchema, PATHS } from './contract.ts'
import { type FirstPartyCredentials, type FirstPartyOptions, requestTokens } from './first-party.ts'
import type { FirstPartySettings } from './settings.ts'

/**
 * Logs in anew with the API key, and if that is rejected, with one value changed at a time: two answers that are equal
 * tell which value is wrong, as far as the platform distinguishes them.
 */
export default async function checkFirstParty(
  { http, apiUrl, isSandbox }: CheckContext,
  credentials: FirstPartySettings,
): Promise<Finding[]> {
  if (!credentials) return []
  if (!isSandbox && isSandboxSecret(credentials.apiKey)) {
    const text =
      "PLATFORM_API_EMAIL, PLATFORM_API_KEY, PLATFORM_SUBSCRIPTION_KEY: these are still the sandbox's. Enter your own, or remove all three if no job uses an API key"
    return [{ id: 'first-party.sandbox', status: 'failure', setting: 'PLATFORM_API_KEY', text }]
  }
  const url = apiUrl.replace(/\/+$/, '') + PATHS.login
  const login = (changes: Partial<FirstPartyCredentials> = {}) =>
    attempt({ ...credentials, ...changes, baseUrl: apiUrl, http })
  try {
    const first = await login()
    return [first.isAccepted ? loggedIn(credentials) : await explain(first, login, url, credentials)]
  } catch (error) {
    const { reason, message } = error as Error & { reason?: string }
    return [
      problem(
        'first-party.unavailable',
        'PLATFORM_API_URL',
        `${url}: ${reason ?? message}. Check the address`,
      ),
    ]
  }
}

const loggedIn = ({ email, tenantId }: FirstPartyCredentials): Finding => ({
  id: 'first-party',
  status: 'ok',
  text: `first-party access: logged in as ${email}${tenantId ? ` for the tenant ${tenantId}` : ''}`,
})

function problem(id: string, setting: string, text: string): Finding {
  return {
    id,
    status: 'failure',
    setting,
    text: `${setting}${text.startsWith('or ') ? ' ' : ': '}${text}`,
  }
}

interface Attempt {
  isAccepted: boolean
  status: number
  /** What the platform said, without the values that it may repeat. */
  said: string
}

async function attempt(options: FirstPartyOptions): Promise<Attempt> {
  const response = await requestTokens(options, PATHS.login)
  const { email, apiKey, subscriptionKey, tenantId = '' } = options
  const values = [email, apiKey, subscriptionKey, tenantId].filter((value) => value !== '')
  const said = values.reduce((text, value) => text.replaceAll(value, '*'), reasonIn(response))
  return { isAccepted: isLogin(response), status: response.status, said }
}

/** What a rejection says, without ids and times of the request. */
function reasonIn({ text }: HttpResponse): string {
  const body = Object(parseJson(text))
  const words = ['code', 'error', 'error_description', 'message', 'title', 'detail'].map((name) => body[name])
  return words.filter((word) => typeof word === 'string' || typeof word === 'number').join(' ')
}

function isLogin({ status, text }: HttpResponse): boolean {
  const parsed = firstPartyTokensSchema.safeParse(parseJson(text))
  return status >= 200 && status < 300 && parsed.success && parsed.data.isSuccessful !== false
}

const isSame = (one: Attempt, other: Attempt) => one.status === other.status && one.said === other.said
const madeUp = () => `doctor-check-${randomBytes(8).toString('hex')}`

async function explain(
  first: Attempt,
  login: (changes: Partial<FirstPartyCredentials>) => Promise<Attempt>,
  url: string,
  { email, tenantId }: FirstPartyCredentials,
): Promise<Finding> {
  const { status, said } = first
  if (status === 404 || status === 405)
    return problem(
      'first-party.not-found',
      'PLATFORM_API_URL',
      `${url} does not exist (${status}). Check the address`,
    )
  if (status >= 500 || status === 429) {
    return problem(
      'first-party.unavailable',
      'PLATFORM_API_URL',
      `${url} answered ${status}. Try again later`,
    )
  }
  if (tenantId && (await login({ tenantId: undefined })).isAccepted) {
    const cure = '`npm run feature -- first-party tenants` lists those of the API key'
    return problem(
      'first-party.tenant',
      'PLATFORM_TENANT_ID',
      `the platform refuses the tenant ${tenantId} (${status}); ${cure}`,
    )
  }
  const ofSubscription = await login({ subscriptionKey: madeUp() })
  if (isSame(first, ofSubscription)) {
    if (/subscription/i.test(said)) {
      const text = `the platform refuses the subscription key (${status}). Copy it from the platform's developer portal`
      return problem('first-party.subscription-key', 'PLATFORM_SUBSCRIPTION_KEY', text)
    }
    const text = `or PLATFORM_API_EMAIL, PLATFORM_API_KEY: the platform refuses them (${status}) and does not say which`
    return problem('first-party.credentials', 'PLATFORM_SUBSCRIPTION_KEY', text)
  }
  const isLikeWrongKey = isSame(first, await login({ apiKey: madeUp() }))
  const isLikeWrongEmail = isSame(first, await login({ email: `${madeUp()}@example.com` }))
  // If both are the same, the platform's words may tell.
  const [saysEmail, saysKey] = [/e-?mail|user/i.test(said), /api.?key/i.test(said)]
  if (isLikeWrongKey && (!isLikeWrongEmail || (saysKey && !saysEmail))) {
    const text = `the platform refuses the API key of ${email} (${status}). Create a new one on the account's API keys page`
    return problem('first-party.api-key', 'PLATFORM_API_KEY', text)
  }
  if (isLikeWrongEmail && (!isLikeWrongKey || (saysEmail && !saysKey))) {
    const text = `the platform does not know ${email} (${status}). Enter the email address of the account's login`
    return problem('first-party.email', 'PLATFORM_API_EMAIL', text)
  }
  const text = `or PLATFORM_API_KEY${tenantId ? ' or PLATFORM_TENANT_ID' : ''}: the platform accepts the subscription key and refuses the login (${status}); it does not say which value is wrong`
  return problem('first-party.login', 'PLATFORM_API_EMAIL', text)
}
