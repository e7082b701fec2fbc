import { platform } from '../../../connect/index.ts'
import type { ProbeAnswer } from '../../tools.ts'
import { listOf } from './api-checks.ts'
import { challengeOf, errorCodeOf, fieldsOf, limitHeadersOf, nameOf } from './shape.ts'

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

const YEAR_SECONDS = 31_536_000

/** Collects a recording from the answers that the probe gets. */
export function createRecording() {
  const recording: Recording = { records: {} }
  /** Undefined if it is not a refusal. */
  const refusalOf = (answer: ProbeAnswer | null): RecordedRefusal | undefined => {
    if (!answer || answer.status < 400 || answer.status > 499) return undefined
    const error = errorCodeOf(answer.json)
    return { status: answer.status, ...(error !== undefined && { error }) }
  }

  return {
    token({ json }: ProbeAnswer) {
      const { expires_in: expiresIn } = Object(json)
      const seconds =
        typeof expiresIn === 'number' || typeof expiresIn === 'string' ? Math.round(Number(expiresIn)) : 0
      recording.token = {
        fields: fieldsOf([json]),
        ...(seconds >= 1 && seconds <= YEAR_SECONDS && { expiresIn: seconds }),
      }
    },
    refresh({ json }: ProbeAnswer, before: string) {
      const { refresh_token: after } = Object(json)
      const isToken = typeof after === 'string' && after !== ''
      recording.refresh = { refreshToken: !isToken ? 'none' : after === before ? 'same' : 'new' }
    },
    oldRefreshToken(isAccepted: boolean) {
      recording.oldRefreshToken = isAccepted ? 'accepted' : 'refused'
    },
    refusal(kind: 'usedCode' | 'revokedRefreshToken', answer: ProbeAnswer) {
      const refusal = refusalOf(answer)
      if (refusal) recording[kind] = refusal
    },
    challenge(kind: 'invalidToken' | 'missingScope', answer: ProbeAnswer | null) {
      const refusal = refusalOf(answer)
      if (!refusal) return
      const challenge = challengeOf(answer?.header('www-authenticate'))
      recording[kind] = { ...refusal, ...(challenge !== undefined && { challenge }) }
    },
    call(path: string, answer: ProbeAnswer) {
      const [pathname = '', query = ''] = path.split('?')
      const headers = limitHeadersOf(answer.headerNames)
      if (headers.length > 0) recording.rateLimitHeaders = headers
      const refusal = refusalOf(answer)
      if (refusal && pathname.endsWith('/probe-no-such-record')) recording.notFound = refusal
      const list = answer.status === 200 ? listOf(answer.json) : undefined
      // Only lists of records: a record may have an array of its own.
      if (!list || !query.includes(`${platform.paging.count}=true`)) return
      if (list.wrapper !== undefined) recording.listWrapper = nameOf(list.wrapper)
      recording.listTotal = answer.header(platform.paging.totalHeader) !== undefined
      recording.records[pathname] = fieldsOf(list.records)
    },
    result: (): Recording => recording,
  }
}
