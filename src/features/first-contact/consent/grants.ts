import type { ProbeAnswer } from '../../../web/kit.ts'
import { requestOf, type Target } from '../platform/target.ts'
import { type Grant, type Round, sendOrNull } from './round.ts'
import { errorCodeOf } from './shape.ts'
import { compareRefusal, compareRotation } from './token-response.ts'

const AGAIN = 'The token endpoint had no usable answer. Run the check again.'
/** `no answer`: there was none, or only an outage, which says nothing about the token. */
type Refreshed =
  | { outcome: 'refreshed' | 'refused'; answer: ProbeAnswer }
  | { outcome: 'no answer'; answer: undefined }

/** Refreshes with this token, and keeps the tokens of the response in the grant. */
async function refresh({ target }: Round, grant: Grant, refreshToken: string): Promise<Refreshed> {
  const answer = await sendOrNull(target.client, await refreshRequest(target, grant, refreshToken))
  if (!answer) return { outcome: 'no answer', answer: undefined }
  const { access_token: accessToken, refresh_token: next } = Object(answer.json)
  if (answer.status > 299 || typeof accessToken !== 'string') return { outcome: 'refused', answer }
  grant.accessToken = accessToken
  if (typeof next === 'string' && next !== '') grant.refreshToken = next
  return { outcome: 'refreshed', answer }
}

const refreshRequest = (target: Target, { bxcontext }: Grant, refreshToken: string) =>
  requestOf(target, (oauth) => oauth.refresh({ refreshToken, bxcontext }))

/** Checks whether the first grant can still be refreshed after the second consent. */
export async function checkSecondConsent(round: Round): Promise<void> {
  const { comparisons, grants } = round
  const [first, ...others] = grants
  const second = others.at(-1)
  const notSeen = (how: string) => comparisons.notSeen('second-consent', how)
  if (!first?.refreshToken || !second) return notSeen('Give consent a second time, for the same business.')
  if (first.bxcontext !== second.bxcontext) {
    return notSeen(
      'The second consent had another bxcontext: it was for another business, or the platform makes a new one each time.',
    )
  }
  const { outcome } = await refresh(round, first, first.refreshToken)
  if (outcome === 'no answer') return notSeen(AGAIN)
  const isAlive = outcome === 'refreshed'
  const seen = `the first grant can ${isAlive ? 'still' : 'no longer'} be refreshed`
  comparisons.compare('second-consent', isAlive, seen, false)
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
  const { outcome, answer } = await refresh(round, grant, before)
  if (outcome === 'no answer') return comparisons.notSeen('refresh-rotation', AGAIN)
  if (outcome === 'refused') {
    const seen = `${answer.status} \`${errorCodeOf(answer.json) ?? 'no error code'}\``
    return comparisons.differ('token-request', `the refresh: ${seen}`, false)
  }
  compareRotation(comparisons, answer, before)
}

/** Refreshes with the token before the latest one. A platform that rotates tokens may end the grant because of it. */
export async function checkOldRefreshToken(round: Round, grant: Grant): Promise<void> {
  const { comparisons } = round
  const { issuedRefreshToken: old, refreshToken: latest } = grant
  if (!old || !latest) return
  const { outcome } = await refresh(round, grant, old)
  if (outcome === 'no answer') return comparisons.notSeen('old-refresh-token', AGAIN)
  if (outcome === 'refreshed') return comparisons.confirm('old-refresh-token', 'it is accepted again')
  const isRotated = old !== latest
  const after = isRotated ? await refresh(round, grant, latest) : undefined
  const ends = after?.outcome === 'refused' ? ', and the consent has ended because of it' : ''
  comparisons.differ('old-refresh-token', `it is refused after a refresh${ends}`, isRotated)
}

/** Exchanges the code again. That may end the grant (RFC 6749 section 4.1.2). */
export async function checkUsedCode({ comparisons, target }: Round, grant: Grant): Promise<void> {
  const answer = await sendOrNull(target.client, grant.exchange)
  if (!answer) return comparisons.notSeen('used-code', AGAIN)
  compareRefusal(comparisons, 'used-code', answer)
}

/** Refreshes with the latest token, to see whether the grant has ended. */
export async function checkRevoked(round: Round, grant: Grant): Promise<void> {
  const { comparisons } = round
  round.isAlive = false
  if (!grant.refreshToken) return
  const { outcome, answer } = await refresh(round, grant, grant.refreshToken)
  if (outcome === 'refused') {
    return compareRefusal(comparisons, 'revoked-refresh-token', answer)
  }
  round.isAlive = true
  const how = 'Withdraw the access of this app on the platform, then press “Check again”.'
  comparisons.notSeen('revoked-refresh-token', outcome === 'no answer' ? AGAIN : how)
}
