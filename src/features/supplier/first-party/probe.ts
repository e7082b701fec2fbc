import { parseJson } from '../../../connect/index.ts'
import type { Probe } from '../../../web/kit.ts'
import { firstPartyTokensSchema, PATHS, tenantSchema } from './contract.ts'
import { firstPartyHeaders, requestTokens } from './first-party.ts'
import type { FirstPartySettings } from './settings.ts'

/** Logs in with the API key, refreshes, and lists the tenants. */
export default async function probeFirstParty(probe: Probe, credentials: FirstPartySettings): Promise<void> {
  const notSeen = (how: string) => {
    for (const id of ['first-party-refresh', 'tenants']) probe.notSeen(id, how)
  }
  if (!credentials)
    return notSeen('Set `PLATFORM_API_EMAIL`, `PLATFORM_API_KEY` and `PLATFORM_SUBSCRIPTION_KEY`.')
  // Logs in without a tenant, because a token for a tenant lists only that tenant.
  const options = { ...credentials, tenantId: undefined, baseUrl: probe.apiUrl, http: probe.http }
  const post = async (path: string, fields?: { refreshToken: string }) => {
    const response = await requestTokens(options, path, fields).catch(() => null)
    return { status: response?.status ?? 0, json: response ? parseJson(response.text) : undefined }
  }
  const login = firstPartyTokensSchema.safeParse((await post(PATHS.login)).json)
  if (!login.success) return notSeen('The login with the API key failed: run `npm run doctor`.')
  const refreshed = await post(PATHS.refreshToken, { refreshToken: login.data.refreshToken ?? '' })
  const isTokens = firstPartyTokensSchema.safeParse(refreshed.json).success
  const isAsForLogin = refreshed.status < 300 && isTokens
  const seen = `${refreshed.status}, ${isAsForLogin ? '' : 'not '}as for login`
  probe.compare('first-party-refresh', isAsForLogin, seen, false)

  const url = probe.apiUrl.replace(/\/+$/, '') + PATHS.tenants
  const authorization = `Bearer ${login.data.accessToken}`
  const headers = { ...firstPartyHeaders(credentials.subscriptionKey), authorization }
  const response = await probe.http.send({ method: 'GET', url, headers }).catch(() => null)
  if (!response) return probe.notSeen('tenants', `GET ${PATHS.tenants}: no answer. Run the check again.`)
  const { status, text } = response
  if (status !== 200) return probe.differ('tenants', `GET ${PATHS.tenants}: ${status}`, false)
  const tenants = probe.recordsOf({ ...response, json: parseJson(text) }, PATHS.tenants)
  if (tenants) probe.checkFields('tenants', tenantSchema, tenants)
}
