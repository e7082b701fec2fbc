import { parseJson } from '../../connect/index.ts'
import type { Probe } from '../tools.ts'
import { firstPartyTokensSchema, PATHS, SUBSCRIPTION_HEADER, tenantSchema } from './contract.ts'
import type { FirstPartySettings } from './settings.ts'

/** Logs in with the API key, refreshes, and lists the tenants. */
export default async function probeFirstParty(probe: Probe, credentials: FirstPartySettings): Promise<void> {
  if (!credentials) {
    for (const id of ['first-party-refresh', 'tenants'])
      probe.notSeen(id, 'Set `PLATFORM_API_EMAIL`, `PLATFORM_API_KEY` and `PLATFORM_SUBSCRIPTION_KEY`.')
    return
  }
  const { email, apiKey, subscriptionKey } = credentials
  const headers = { [SUBSCRIPTION_HEADER]: subscriptionKey, 'content-type': 'application/json' }
  const base = probe.apiUrl.replace(/\/+$/, '')
  const post = async (path: string, fields: object) => {
    const body = JSON.stringify({ email, apiKey, ...fields })
    const response = await probe.http
      .send({ method: 'POST', url: base + path, headers, body })
      .catch(() => null)
    return { status: response?.status ?? 0, json: response ? parseJson(response.text) : undefined }
  }
  const login = firstPartyTokensSchema.safeParse((await post(PATHS.login, {})).json)
  if (!login.success) {
    for (const id of ['first-party-refresh', 'tenants'])
      probe.notSeen(id, 'The login with the API key failed: run `npm run doctor`.')
    return
  }
  const refreshed = await post(PATHS.refreshToken, { refreshToken: login.data.refreshToken })
  const isTokens = firstPartyTokensSchema.safeParse(refreshed.json).success
  if (refreshed.status < 300 && isTokens)
    probe.confirm('first-party-refresh', `${refreshed.status}, as for login`)
  else probe.differ('first-party-refresh', `${refreshed.status}, not as for login`, false)

  const authorization = `Bearer ${login.data.accessToken}`
  const request = {
    method: 'GET' as const,
    url: base + PATHS.tenants,
    headers: { ...headers, authorization },
  }
  const response = await probe.http.send(request).catch(() => null)
  if (!response) return probe.notSeen('tenants', `GET ${PATHS.tenants}: no answer. Run the check again.`)
  const { status } = response
  const answer = { ...response, json: parseJson(response.text) }
  const tenants = status === 200 ? probe.recordsOf(answer, PATHS.tenants) : undefined
  if (status !== 200) probe.differ('tenants', `GET ${PATHS.tenants}: ${status}`, false)
  else if (tenants) probe.checkFields('tenants', tenantSchema, tenants)
}
