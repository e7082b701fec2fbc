import { platform } from '../../../connect/index.ts'
import type { ProbeAnswer } from '../../tools.ts'
import { challengeOf, errorCodeOf, fieldsOf, limitHeadersOf, listOf, nameOf } from './shape.ts'

/** The answers that a recording is made of. */
export interface Answers {
  token?: ProbeAnswer
  /** `before`: the refresh token that was sent. */
  refresh?: { answer: ProbeAnswer; before: string }
  oldRefreshToken?: 'accepted' | 'refused'
  usedCode?: ProbeAnswer
  revokedRefreshToken?: ProbeAnswer
  invalidToken?: ProbeAnswer
  missingScope?: ProbeAnswer
  /** The calls of the API with a token, with their paths. */
  calls: { path: string; answer: ProbeAnswer }[]
}

export type Recording = ReturnType<typeof recordingOf>

/**
 * How the platform answers, without any value: names of fields, types and statuses. `npm run sandbox -- --as FILE` makes
 * the sandbox answer like this.
 */
export function recordingOf({ calls, ...answers }: Answers) {
  // Only lists of records: a record may have an array of its own.
  const lists = calls.flatMap(({ path, answer }) => {
    const [pathname = '', query = ''] = path.split('?')
    const isList = answer.status === 200 && query.includes(`${platform.paging.count}=true`)
    const list = isList ? listOf(answer.json) : undefined
    return list ? [{ pathname, list, answer }] : []
  })
  const wrapper = lists.findLast(({ list }) => list.wrapper !== undefined)?.list.wrapper
  const limitHeaders = calls.map(({ answer }) => limitHeadersOf(answer))
  const missing = calls.findLast(({ path }) => path.endsWith('/probe-no-such-record'))
  return {
    token: answers.token && tokenOf(answers.token),
    refresh: answers.refresh && { refreshToken: refreshTokenOf(answers.refresh) },
    oldRefreshToken: answers.oldRefreshToken,
    usedCode: refusalOf(answers.usedCode),
    revokedRefreshToken: refusalOf(answers.revokedRefreshToken),
    invalidToken: challengedOf(answers.invalidToken),
    missingScope: challengedOf(answers.missingScope),
    notFound: refusalOf(missing?.answer),
    listWrapper: wrapper === undefined ? undefined : nameOf(wrapper),
    listTotal: lists.at(-1) && lists.at(-1)?.answer.header(platform.paging.totalHeader) !== undefined,
    rateLimitHeaders: limitHeaders.findLast((names) => names.length > 0),
    records: Object.fromEntries(lists.map(({ pathname, list }) => [pathname, fieldsOf(list.records)])),
  }
}

const YEAR_SECONDS = 31_536_000

function tokenOf({ json }: ProbeAnswer) {
  const { expires_in: expiresIn } = Object(json)
  const seconds = ['number', 'string'].includes(typeof expiresIn) ? Math.round(Number(expiresIn)) : 0
  const isShown = seconds >= 1 && seconds <= YEAR_SECONDS
  return { fields: fieldsOf([json]), ...(isShown && { expiresIn: seconds }) }
}

function refreshTokenOf({ answer, before }: { answer: ProbeAnswer; before: string }) {
  const { refresh_token: after } = Object(answer.json)
  if (typeof after !== 'string' || after === '') return 'none'
  return after === before ? 'same' : 'new'
}

/** The status and the error code; undefined if it is not a refusal. */
function refusalOf(answer: ProbeAnswer | undefined) {
  if (!answer || answer.status < 400 || answer.status > 499) return undefined
  return { status: answer.status, error: errorCodeOf(answer.json) }
}

/** A refusal with the scheme and the names of the parameters of its challenge. */
function challengedOf(answer: ProbeAnswer | undefined) {
  const refusal = refusalOf(answer)
  return refusal && { ...refusal, challenge: challengeOf(answer?.header('www-authenticate')) }
}
