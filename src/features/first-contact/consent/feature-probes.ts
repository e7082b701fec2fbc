import type { Config } from '../../../config.ts'
import type { Probe, ProbeAnswer, ProbeTool, ReceivedRequest } from '../../tools.ts'
import { apiRequest, type Grant, type Round, sendOrNull } from './grants.ts'
import { checkFields, checkRecords, compareInvalidToken, compareLimitHeaders, recordsOf } from './records.ts'

/** An access token that was never issued, to see how the API refuses it. */
const MADE_UP_TOKEN = 'probe-made-up-token'

export interface FeatureProbesOptions {
  /** By the name of the feature. */
  probes: ReadonlyMap<string, ProbeTool>
  settings: Config['features']
  /** Whether to create records, named as a test. */
  write: boolean
  received: readonly ReceivedRequest[]
}

/** Runs the probes of all features. Resolves to a path for each scope that they read. */
export async function runFeatureProbes(
  { target, comparisons, answers }: Round,
  grant: Grant,
  { probes, settings, write, received }: FeatureProbesOptions,
): Promise<Map<string, string>> {
  const { client, apiUrl } = target
  const paths = new Map<string, string>()
  const call = async (path: string, body?: object): Promise<ProbeAnswer | null> => {
    const answer = await sendOrNull(client, apiRequest(target, path, grant.accessToken, body))
    if (!answer) return null
    compareLimitHeaders(comparisons, answer)
    answers.calls.push({ path, answer })
    if (answer.status < 300 && answer.json !== undefined) comparisons.confirm('api-address', 'calls succeed')
    if (answer.status === 401) comparisons.differ('api-address', '401 to a call with a fresh token', false)
    return answer
  }
  const probe: Probe = {
    http: client.http,
    apiUrl,
    write,
    received,
    call,
    async checkRecords(check) {
      paths.set(check.scope, check.path)
      return checkRecords(comparisons, probe, check)
    },
    recordsOf: (answer, path) => recordsOf(comparisons, answer, path),
    checkFields: (id, schema, records) => checkFields(comparisons, id, schema, records),
    confirm: (id, seen) => comparisons.confirm(id, seen),
    differ: (id, seen, copes) => comparisons.differ(id, seen, copes),
    notSeen: (id, how) => comparisons.notSeen(id, how),
  }
  for (const [name, probeFeature] of probes) await probeFeature(probe, settings[name])
  const [path] = paths.values()
  if (path === undefined) return paths
  const answer = await sendOrNull(client, apiRequest(target, path, MADE_UP_TOKEN))
  compareInvalidToken(comparisons, answer)
  if (answer) answers.invalidToken = answer
  return paths
}
