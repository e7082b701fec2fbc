import { platform } from '../../../connect/index.ts'
import type { ProbeAnswer } from '../../../web/kit.ts'
import { requestOf } from '../platform/target.ts'
import { apiRequest, ask, type Grant, ignoreNoAnswer, type Round } from './round.ts'
import { refusalOf } from './shape.ts'
import { compareRefusal, compareRotation } from './token-response.ts'

interface Refreshed {
  isRefreshed: boolean
  answer: ProbeAnswer
}

/** Refreshes with this token, and keeps the tokens of the response in the grant. */
async function refresh({ target }: Round, grant: Grant, refreshToken: string): Promise<Refreshed> {
  const { bxcontext } = grant
  const request = await requestOf(target, (oauth) => oauth.refresh({ refreshToken, bxcontext }))
  const answer = await ask(target.client, request)
  const { access_token: accessToken, refresh_token: next } = Object(answer.json)
  if (answer.status > 299 || typeof accessToken !== 'string') return { isRefreshed: false, answer }
  grant.accessToken = accessToken
  if (typeof next === 'string' && next !== '') grant.refreshToken = next
  return { isRefreshed: true, answer }
}

/** Checks whether the first grant can still be refreshed after the second consent. */
export async function checkSecondConsent(round: Round): Promise<void> {
  const { comparisons, grants } = round
  const [first, ...others] = grants
  const second = others.at(-1)
  const notSeen = (how: string) => comparisons.notSeen('second-consent', how)
  if (!first?.refreshToken || !second) return notSeen('Give consent a second time, for the same business.')
  if (first.bxcontext !== second.bxcontext) {
    return notSeen(
      'The second consent had another bxcontext: it was for another business, or the platform makes a new bxcontext each time.',
    )
  }
  const { isRefreshed } = await refresh(round, first, first.refreshToken)
  const seen = `the first grant can ${isRefreshed ? 'still' : 'no longer'} be refreshed`
  comparisons.compare('second-consent', isRefreshed, seen, false)
}

/** Refreshes for the first time, and checks whether the platform returns another refresh token. */
export async function checkRefresh(round: Round, grant: Grant): Promise<void> {
  const { comparisons } = round
  const before = grant.refreshToken
  if (!before) {
    for (const id of ['refresh-rotation', 'old-refresh-token', 'revoked-refresh-token'])
      comparisons.notSeen(id, 'The platform issued no refresh token.')
    return
  }
  const { isRefreshed, answer } = await refresh(round, grant, before)
  if (isRefreshed) return compareRotation(comparisons, answer, before)
  comparisons.differ('token-request', `the refresh: ${refusalOf(answer)}`, false)
}

/** Refreshes with the refresh token of the exchange again. A platform that rotates tokens may end the grant because of that. */
export async function checkOldRefreshToken(round: Round, grant: Grant): Promise<void> {
  const { comparisons } = round
  const { issuedRefreshToken: old, refreshToken: latest } = grant
  if (!old || !latest) return
  const { isRefreshed } = await refresh(round, grant, old)
  if (isRefreshed) return comparisons.confirm('old-refresh-token', 'it is accepted again')
  const isRotated = old !== latest
  // Without an answer to this one, the refusal is known all the same.
  const after = isRotated ? await refresh(round, grant, latest).catch(ignoreNoAnswer) : undefined
  const hasEnded = after?.isRefreshed === false
  const ends = hasEnded ? ', and the consent has ended because of it' : ''
  comparisons.differ('old-refresh-token', `it is refused after a refresh${ends}`, isRotated)
}

/** Exchanges the code again. That may end the grant (RFC 6749 section 4.1.2). */
export async function checkUsedCode({ comparisons, target }: Round, grant: Grant): Promise<void> {
  compareRefusal(comparisons, 'used-code', await ask(target.client, grant.exchange))
}

/** Refreshes with the latest token, to see whether the grant has ended. */
export async function checkRevoked(round: Round, grant: Grant): Promise<void> {
  const { comparisons } = round
  if (!grant.refreshToken) return
  // If there is no answer, the person can check again.
  round.isAlive = true
  const { isRefreshed, answer } = await refresh(round, grant, grant.refreshToken)
  round.isAlive = isRefreshed
  if (!isRefreshed) return compareRefusal(comparisons, 'revoked-refresh-token', answer)
  const how = 'Withdraw the access of this app on the platform, then press “Check again”.'
  comparisons.notSeen('revoked-refresh-token', how)
}

/** An access token that was never issued, to see how the API refuses it. */
const MADE_UP_TOKEN = 'probe-made-up-token'

/** Calls the API with a token that was never issued. */
export async function checkInvalidToken({ target, comparisons }: Round): Promise<void> {
  const { status, header } = await ask(
    target.client,
    apiRequest(target, platform.apiCheckPath, MADE_UP_TOKEN),
  )
  const challenge = header('www-authenticate')
  const isBearer = /^Bearer\b/i.test(challenge ?? '')
  const scheme = isBearer
    ? 'with `WWW-Authenticate: Bearer`'
    : challenge
      ? 'with another scheme'
      : 'without `WWW-Authenticate`'
  comparisons.compare(
    'invalid-access-token',
    status === 401 && isBearer,
    `${status}, ${scheme}`,
    status === 401,
  )
}
