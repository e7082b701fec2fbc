import type { Probe, ProbeAnswer, ProbeTool, ReceivedRequest } from '../../tools.ts'
import type { Request } from '../doctor/http.ts'
import { checkFields, checkInvalidToken, checkLimitHeaders, checkRecords, recordsOf } from './api-checks.ts'
import { sendOrNull } from './http.ts'
import type { Grant, Round } from './round.ts'

/** An access token that was never issued, to see how the API refuses it. */
const MADE_UP_TOKEN = 'probe-made-up-token'

export interface FeatureProbesOptions {
  /** By the name of the feature. */
  probes: ReadonlyMap<string, ProbeTool>
  write: boolean
  received: readonly ReceivedRequest[]
}

/** Runs the probes of all features. Resolves to a path for each scope that they read. */
export async function runFeatureProbes(
  round: Round,
  grant: Grant,
  { probes, write, received }: FeatureProbesOptions,
): Promise<Map<string, string>> {
  const { results, recording, http, recorder, config } = round
  const { apiUrl } = config.platform
  const paths = new Map<string, string>()
  const call = async (path: string, body?: object): Promise<ProbeAnswer | null> => {
    const answer = await sendOrNull(http, apiRequest(apiUrl, path, grant.accessToken, body))
    if (!answer) return null
    checkLimitHeaders(results, answer)
    recording.call(path, answer)
    if (answer.status < 300 && answer.json !== undefined) results.confirm('api-address', 'calls succeed')
    if (answer.status === 401) results.differ('api-address', '401 to a call with a fresh token', false)
    return answer
  }
  const probe: Probe = {
    http: recorder,
    apiUrl,
    write,
    received,
    call,
    async checkRecords(check) {
      paths.set(check.scope, check.path)
      return checkRecords(results, probe, check)
    },
    recordsOf: (answer, path) => recordsOf(results, answer, path),
    checkFields: (id, schema, records) => checkFields(results, id, schema, records),
    confirm: results.confirm,
    differ: results.differ,
    notSeen: results.notSeen,
  }
  for (const [name, probeFeature] of probes) await probeFeature(probe, config.features[name])
  const [path] = paths.values()
  if (path === undefined) return paths
  const answer = await sendOrNull(http, apiRequest(apiUrl, path, MADE_UP_TOKEN))
  checkInvalidToken(results, answer)
  recording.challenge('invalidToken', answer)
  return paths
}

/** A request to the API with this token. */
export function apiRequest(
  apiUrl: string,
  path: string,
  token: string,
  body?: object,
): Request & { url: string } {
  const headers = { authorization: `Bearer ${token}` }
  const url = apiUrl.replace(/\/+$/, '') + path
  if (!body) return { method: 'GET', url, headers }
  const json = { ...headers, 'content-type': 'application/json' }
  return { method: 'POST', url, headers: json, body: JSON.stringify(body) }
}
