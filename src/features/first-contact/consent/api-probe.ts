import type { Probe, ReceivedRequest } from '../../../web/kit.ts'
import { checkCreation, checkFields, checkRecords, recordsOf } from './records.ts'
import { apiRequest, type Grant, NO_ANSWER, type Round, sendOrNull } from './round.ts'
import { challengeOf, limitHeadersOf } from './shape.ts'

/** An access token that was never issued, to see how the API refuses it. */
const MADE_UP_TOKEN = 'probe-made-up-token'

export interface ApiProbeOptions {
  /** Whether to create records, named as a test. */
  write: boolean
  received: readonly ReceivedRequest[]
}

/** What the probes of the features use: calls of the API with the grant, and comparisons that they have in common. */
export interface ApiProbe extends Probe {
  /** Compares the answer to a call with a made-up token, once the features have read a list. */
  checkInvalidToken(): Promise<void>
}

export function createApiProbe(
  { target, comparisons }: Round,
  grant: Grant,
  { write, received }: ApiProbeOptions,
): ApiProbe {
  const { confirm, differ, compare, notSeen } = comparisons
  /** The path of a list that a feature has read. */
  let listPath: string | undefined
  const probe: ApiProbe = {
    http: target.client.http,
    apiUrl: target.apiUrl,
    write,
    received,
    confirm,
    differ,
    compare,
    notSeen,
    async call(path, body) {
      const answer = await sendOrNull(target.client, apiRequest(target, path, grant.accessToken, body))
      if (!answer) return null
      const found = limitHeadersOf(answer).map((name) => `\`${name}\``)
      compare('rate-limit-headers', found.length === 0, found.join(', ') || 'none', true)
      if (answer.status < 300 && answer.json !== undefined) confirm('api-address', 'calls succeed')
      if (answer.status === 401) differ('api-address', '401 to a call with a fresh token', false)
      return answer
    },
    async checkInvalidToken() {
      if (listPath === undefined) return
      const answer = await sendOrNull(target.client, apiRequest(target, listPath, MADE_UP_TOKEN))
      if (!answer) return notSeen('invalid-access-token', `There was ${NO_ANSWER}`)
      const challenge = challengeOf(answer.header('www-authenticate'))
      const seen = `${answer.status}, ${challenge ? `\`WWW-Authenticate: ${challenge}\`` : 'without `WWW-Authenticate`'}`
      const isAsAssumed = answer.status === 401 && /^Bearer\b/i.test(challenge ?? '')
      compare('invalid-access-token', isAsAssumed, seen, answer.status === 401)
    },
    checkRecords(check) {
      listPath ??= check.path
      return checkRecords(probe, check)
    },
    checkCreation: (creation) => checkCreation(probe, creation),
    recordsOf: (answer, path) => recordsOf(probe, answer, path),
    checkFields: (id, schema, records) => checkFields(probe, id, schema, records),
  }
  return probe
}
