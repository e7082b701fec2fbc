import type { Probe, ReceivedRequest } from '../../../web/kit.ts'
import { checkCreation, checkFields, checkRecords, recordsOf } from './records.ts'
import { apiRequest, ask, type Grant, type Round } from './round.ts'
import { limitHeadersOf } from './shape.ts'

export interface ApiProbeOptions {
  /** Whether to create records, named as a test. */
  write: boolean
  received: readonly ReceivedRequest[]
}

/** What the probes of the features use: calls of the API with the grant, and comparisons that they have in common. */
export function createApiProbe(
  { target, comparisons }: Round,
  grant: Grant,
  { write, received }: ApiProbeOptions,
): Probe {
  const { confirm, differ, compare, notSeen } = comparisons
  const probe: Probe = {
    http: target.client.http,
    apiUrl: target.apiUrl,
    write,
    received,
    confirm,
    differ,
    compare,
    notSeen,
    async call(path, body) {
      const answer = await ask(target.client, apiRequest(target, path, grant.accessToken, body))
      const found = limitHeadersOf(answer).map((name) => `\`${name}\``)
      compare('rate-limit-headers', found.length === 0, found.join(', ') || 'none', true)
      if (answer.status < 300 && answer.json !== undefined) confirm('api-address', 'calls succeed')
      if (answer.status === 401) differ('api-address', '401 to a call with a fresh token', false)
      return answer
    },
    checkRecords: (check) => checkRecords(probe, check),
    checkCreation: (creation) => checkCreation(probe, creation),
    recordsOf: (answer, path) => recordsOf(probe, answer, path),
    checkFields: (id, schema, records) => checkFields(probe, id, schema, records),
  }
  return probe
}
