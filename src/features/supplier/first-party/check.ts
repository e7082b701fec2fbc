import { formsOf, type HttpResponse, messageIn, parseJson } from '../../../connect/index.ts'
import { type CheckContext, type Finding, field } from '../../../web/feature-api.ts'
import { firstPartyTokensSchema, PATHS } from './contract.ts'
import { requestTokens } from './first-party.ts'
import type { FirstPartySettings } from './settings.ts'

const SETTINGS = 'PLATFORM_API_EMAIL, PLATFORM_API_KEY, PLATFORM_SUBSCRIPTION_KEY'

/**
 * Logs in again with the API key. If the platform refuses the login for a tenant, retries once without the tenant. Tries no other
 * values, because an account may be locked after a few failures. Quotes the platform's message about a refusal.
 */
export default async function checkFirstParty(
  { http, apiUrl, isSandbox }: CheckContext,
  credentials: FirstPartySettings,
): Promise<Finding[]> {
  if (!credentials) return []
  const { email, apiKey, subscriptionKey, tenantId } = credentials
  const failure = (id: string, setting: string, text: string): Finding[] => [
    { id, status: 'failure', setting, text },
  ]
  const ofKey = (id: string, text: string) => failure(id, 'PLATFORM_API_KEY', `${SETTINGS}: ${text}`)
  const url = apiUrl.replace(/\/+$/, '') + PATHS.login
  const ofAddress = (id: string, what: string) =>
    failure(id, 'PLATFORM_API_URL', `PLATFORM_API_URL: ${url} ${what}`)
  if (!isSandbox && field.isSandboxSecret(apiKey))
    return ofKey(
      'first-party.sandbox',
      "these are still the sandbox's. Enter your own, or remove all three if no job uses an API key",
    )

  const login = (tenant: string | undefined) =>
    requestTokens({ ...credentials, tenantId: tenant, baseUrl: apiUrl, http }, PATHS.login)
  try {
    const answer = await login(tenantId)
    const { status, text } = answer
    const as = email + (tenantId ? ` for the tenant ${tenantId}` : '')
    if (isLogin(answer))
      return [{ id: 'first-party', status: 'ok', text: `first-party access: logged in as ${as}` }]
    if (status === 404 || status === 405)
      return ofAddress('first-party.not-found', `does not exist (${status}). Check the address`)
    if (status >= 500 || status === 429)
      return ofAddress('first-party.unavailable', `answered ${status}. Try again later`)
    if (tenantId !== undefined && isLogin(await login(undefined))) {
      const refused = `the platform refuses the tenant ${tenantId} (${status})`
      const how = '`npm run feature -- first-party tenants` lists those of the API key'
      return failure('first-party.tenant', 'PLATFORM_TENANT_ID', `PLATFORM_TENANT_ID: ${refused}; ${how}`)
    }
    const said = messageIn(text, [apiKey, subscriptionKey].flatMap(formsOf)).slice(0, 200)
    const refused = `the platform refuses the login (${status}${said && `: ${said}`})`
    return ofKey('first-party.login', `${refused}. Check all three`)
  } catch (error) {
    const { reason, message } = error as Error & { reason?: string }
    return ofAddress('first-party.unavailable', `: ${reason ?? message}. Check the address`)
  }
}

function isLogin({ status, text }: HttpResponse): boolean {
  const parsed = firstPartyTokensSchema.safeParse(parseJson(text))
  return status >= 200 && status < 300 && parsed.success && parsed.data.isSuccessful !== false
}
