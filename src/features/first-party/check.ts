import { formsOf, type HttpResponse, parseJson } from '../../connect/index.ts'
import { type CheckContext, type Finding, field } from '../../web/kit.ts'
import { firstPartyTokensSchema, PATHS } from './contract.ts'
import { type FirstPartyCredentials, requestTokens } from './first-party.ts'
import type { FirstPartySettings } from './settings.ts'

const SETTINGS = 'PLATFORM_API_EMAIL, PLATFORM_API_KEY, PLATFORM_SUBSCRIPTION_KEY'

/**
 * Logs in anew with the API key, and if that is rejected, without the tenant. It tries no other values: an account may be locked
 * after a few failures. What the platform says of a rejection is quoted.
 */
export default async function checkFirstParty(
  { http, apiUrl, isSandbox }: CheckContext,
  credentials: FirstPartySettings,
): Promise<Finding[]> {
  if (!credentials) return []
  if (!isSandbox && field.isSandboxSecret(credentials.apiKey)) {
    const text = `${SETTINGS}: these are still the sandbox's. Enter your own, or remove all three if no job uses an API key`
    return [{ id: 'first-party.sandbox', status: 'failure', setting: 'PLATFORM_API_KEY', text }]
  }
  const { email, tenantId } = credentials
  const url = apiUrl.replace(/\/+$/, '') + PATHS.login
  const login = (tenantId: string | undefined) =>
    requestTokens({ ...credentials, tenantId, baseUrl: apiUrl, http }, PATHS.login)
  try {
    const answer = await login(tenantId)
    if (isLogin(answer)) {
      const text = `first-party access: logged in as ${email}${tenantId ? ` for the tenant ${tenantId}` : ''}`
      return [{ id: 'first-party', status: 'ok', text }]
    }
    const isTenant = tenantId !== undefined && isRejection(answer) && isLogin(await login(undefined))
    return [isTenant ? ofTenant(answer, tenantId) : ofRejection(answer, url, credentials)]
  } catch (error) {
    const { reason, message } = error as Error & { reason?: string }
    return [ofAddress('first-party.unavailable', `${url}: ${reason ?? message}. Check the address`)]
  }
}

function isLogin({ status, text }: HttpResponse): boolean {
  const parsed = firstPartyTokensSchema.safeParse(parseJson(text))
  return status >= 200 && status < 300 && parsed.success && parsed.data.isSuccessful !== false
}

const isRejection = ({ status }: HttpResponse) => status < 500 && ![404, 405, 429].includes(status)

function ofTenant({ status }: HttpResponse, tenantId: string): Finding {
  const setting = 'PLATFORM_TENANT_ID'
  const text = `${setting}: the platform refuses the tenant ${tenantId} (${status}); \`npm run feature -- first-party tenants\` lists those of the API key`
  return { id: 'first-party.tenant', status: 'failure', setting, text }
}

function ofAddress(id: string, text: string): Finding {
  const setting = 'PLATFORM_API_URL'
  return { id, status: 'failure', setting, text: `${setting}: ${text}` }
}

function ofRejection(answer: HttpResponse, url: string, credentials: FirstPartyCredentials): Finding {
  const { status } = answer
  if (status === 404 || status === 405)
    return ofAddress('first-party.not-found', `${url} does not exist (${status}). Check the address`)
  if (!isRejection(answer))
    return ofAddress('first-party.unavailable', `${url} answered ${status}. Try again later`)
  const said = reasonIn(answer, credentials)
  const text = `${SETTINGS}: the platform refuses the login (${status}${said && `: ${said}`}). Check all three`
  return { id: 'first-party.login', status: 'failure', setting: 'PLATFORM_API_KEY', text }
}

/** What a rejection says, without the values that it may repeat. */
function reasonIn({ text }: HttpResponse, { apiKey, subscriptionKey }: FirstPartyCredentials): string {
  const body = Object(parseJson(text))
  const words = ['code', 'error', 'error_description', 'message', 'title', 'detail'].map((name) => body[name])
  return [apiKey, subscriptionKey]
    .flatMap(formsOf)
    .reduce(
      (said, secret) => said.replaceAll(secret, '•••'),
      words.filter((word) => typeof word === 'string' || typeof word === 'number').join(' '),
    )
    .slice(0, 200)
}
