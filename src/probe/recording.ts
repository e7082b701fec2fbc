import type { ProbeAnswer } from '../features/feature.ts'
import { listOf } from './api-checks.ts'
import { challengeOf, errorCodeOf, fieldsOf, nameOf } from './shape.ts'

/** A refusal: the status and the error code, if it is one. */
export interface RecordedRefusal {
  status: number
  error?: string
}

/**
 * How the platform answers, without any value: names of fields, types and statuses. `npm run sandbox -- --as FILE` makes
 * the sandbox answer like this.
 */
export interface Recording {
  /** The fields of the token response with their types; `expiresIn` in seconds. */
  token?: { fields: Record<string, string>; expiresIn?: number }
  refresh?: { refreshToken: 'none' | 'same' | 'new' }
  oldRefreshToken?: 'accepted' | 'refused'
  usedCode?: RecordedRefusal
  revokedRefreshToken?: RecordedRefusal
  /** `challenge`: the scheme and the names of the parameters. */
  invalidToken?: RecordedRefusal & { challenge?: string }
  missingScope?: RecordedRefusal & { challenge?: string }
  notFound?: RecordedRefusal
  /** The field of an object that has the list; absent: lists are arrays. */
  listWrapper?: string
  /** Whether lists have `x-odata-total-count`. */
  listTotal?: boolean
  rateLimitHeaders?: string[]
  /** The fields of the records of a list with their types, by its path. */
  records: Record<string, Record<string, string>>
}

/** Collects a recording from the answers that the probe gets. */
export function createRecording() {
  const recording: Recording = { records: {} }
  const refusalOf = ({ status, json }: ProbeAnswer): RecordedRefusal => {
    const error = errorCodeOf(json)
    return { status, ...(error !== undefined && { error }) }
  }

  return {
    token({ json }: ProbeAnswer) {
      const seconds = Number(Object(json).expires_in)
      recording.token = { fields: fieldsOf([json]), ...(Number.isFinite(seconds) && { expiresIn: seconds }) }
    },
    refresh({ json }: ProbeAnswer, before: string) {
      const { refresh_token: after } = Object(json)
      recording.refresh = { refreshToken: after === undefined ? 'none' : after === before ? 'same' : 'new' }
    },
    oldRefreshToken(isAccepted: boolean) {
      recording.oldRefreshToken = isAccepted ? 'accepted' : 'refused'
    },
    refusal(kind: 'usedCode' | 'revokedRefreshToken', answer: ProbeAnswer | null) {
      if (answer && answer.status >= 400) recording[kind] = refusalOf(answer)
    },
    challenge(kind: 'invalidToken' | 'missingScope', answer: ProbeAnswer | null) {
      if (!answer) return
      const challenge = challengeOf(answer.header('www-authenticate'))
      recording[kind] = { ...refusalOf(answer), ...(challenge !== undefined && { challenge }) }
    },
    call(path: string, answer: ProbeAnswer) {
      const [pathname = ''] = path.split('?')
      const headers = [
        'x-ratelimit-limit',
        'x-ratelimit-remaining',
        'ratelimit-limit',
        'ratelimit-remaining',
        'ratelimit',
      ]
      const found = headers.filter((name) => answer.header(name) !== undefined)
      if (found.length > 0) recording.rateLimitHeaders = found
      if (pathname.endsWith('/probe-no-such-record')) recording.notFound = refusalOf(answer)
      const list = answer.status === 200 ? listOf(answer.json) : undefined
      // Only lists of records: a record may have an array of its own.
      if (!list || !path.includes('?$top=25')) return
      if (list.wrapper !== undefined) recording.listWrapper = nameOf(list.wrapper)
      recording.listTotal = answer.header('x-odata-total-count') !== undefined
      recording.records[pathname] = fieldsOf(list.records)
    },
    result: (): Recording => recording,
  }
}
