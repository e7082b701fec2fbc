import { platform } from '../../../connect/index.ts'
import { recordedRequest } from '../doctor/recorded-request.ts'
import { checkMissingScope } from './api-checks.ts'
import { apiRequest } from './feature-probes.ts'
import { sendOrNull } from './http.ts'
import { type Grant, type Round, refresh } from './round.ts'
import { errorCodeOf } from './shape.ts'
import { checkRefusal, checkRotation } from './token-checks.ts'

const AGAIN = 'The token endpoint had no usable answer. Run the probe again.'

/** Whether the first grant can still be refreshed after the second consent. */
export async function checkSecondConsent(round: Round): Promise<void> {
  const { results, grants } = round
  const [first, ...others] = grants
  const second = others.at(-1)
  const notSeen = (how: string) => results.notSeen('second-consent', how)
  if (!first?.refreshToken || !second) return notSeen('Give consent a second time, for the same business.')
  if (first.bxcontext !== second.bxcontext) {
    return notSeen(
      'The second consent had another bxcontext: it was for another business, or the platform makes a new one each time.',
    )
  }
  const { outcome } = await refresh(round, first, first.refreshToken)
  if (outcome === 'no answer') notSeen(AGAIN)
  else if (outcome === 'refused')
    results.differ('second-consent', 'the first grant can no longer be refreshed', false)
  else results.confirm('second-consent', 'the first grant can still be refreshed')
}

/** A first refresh: whether it returns another refresh token. */
export async function checkRefresh(round: Round, grant: Grant): Promise<void> {
  const { results, recording } = round
  const before = grant.refreshToken
  if (!before) {
    for (const id of ['refresh-rotation', 'old-refresh-token', 'revoked-refresh-token'])
      results.notSeen(id, 'The platform issued no refresh token.')
    return
  }
  const { outcome, answer } = await refresh(round, grant, before)
  if (outcome === 'no answer') return results.notSeen('refresh-rotation', AGAIN)
  if (outcome === 'refused') {
    const seen = `${answer.status} \`${errorCodeOf(answer.json) ?? 'no error code'}\``
    return results.differ('token-request', `the refresh: ${seen}`, false)
  }
  checkRotation(results, answer, before)
  recording.refresh(answer, before)
}

/** Refreshes with fewer scopes (RFC 6749 section 6), to see what a call without its scope answers. */
export async function checkNarrowScope(
  round: Round,
  grant: Grant,
  paths: Map<string, string>,
): Promise<void> {
  const { results, recording, http, config } = round
  const how = 'Give consent to only one permission, and run the probe again.'
  const [kept, missing] = [...paths.keys()].filter((scope) => config.platform.scopes.includes(scope))
  const path = paths.get(missing ?? '')
  const request = await refreshRequest(round, grant)
  if (!request || !kept || !missing || !path) return results.notSeen('insufficient-scope', how)
  const form = new URLSearchParams(String(request.body))
  form.set('scope', kept)
  const narrowed = await sendOrNull(http, { ...request, body: form.toString() })
  const { access_token: token, refresh_token: next, scope } = Object(narrowed?.json)
  if (typeof next === 'string' && next !== '') grant.refreshToken = next
  if (typeof token !== 'string') return results.notSeen('insufficient-scope', how)
  // Without a `scope`, it is the one that was requested (RFC 6749 section 5.1), unless the platform ignores that.
  const granted = typeof scope === 'string' ? scope.split(' ') : undefined
  if (granted?.includes(missing))
    return results.notSeen('insufficient-scope', `The platform ignores fewer scopes at a refresh. ${how}`)
  const answer = await sendOrNull(http, apiRequest(config.platform.apiUrl, path, token))
  if (!answer) return results.notSeen('insufficient-scope', `The API did not answer GET ${path}. ${how}`)
  if (answer.status < 300) {
    const why = granted
      ? `The API answers GET ${path} without the scope \`${missing}\`.`
      : 'The platform ignores fewer scopes at a refresh, or the API does not check them.'
    return results.notSeen('insufficient-scope', `${why} ${how}`)
  }
  checkMissingScope(results, answer, missing)
  recording.challenge('missingScope', answer)
}

/** The request of a refresh, as the app builds it, and not sent. */
async function refreshRequest({ config }: Round, { refreshToken, bxcontext }: Grant) {
  if (!refreshToken) return undefined
  const target = { platform, ...config.platform, baseUrl: config.baseUrl }
  return recordedRequest(target, (oauth) => oauth.refresh({ refreshToken, bxcontext }))
}

/** A refresh with the token before the latest one. A platform that rotates may end the grant because of it. */
export async function checkOldRefreshToken(round: Round, grant: Grant): Promise<void> {
  const { results, recording } = round
  const { issuedRefreshToken: old, refreshToken: latest } = grant
  if (!old || !latest) return
  const { outcome } = await refresh(round, grant, old)
  if (outcome === 'no answer') return results.notSeen('old-refresh-token', AGAIN)
  recording.oldRefreshToken(outcome === 'refreshed')
  if (outcome === 'refreshed') return results.confirm('old-refresh-token', 'it is accepted again')
  const isRotated = old !== latest
  const after = isRotated ? await refresh(round, grant, latest) : undefined
  const ends = after?.outcome === 'refused' ? ', and the consent has ended because of it' : ''
  results.differ('old-refresh-token', `it is refused after a refresh${ends}`, isRotated)
}

/** Exchanges the code again. That may end the grant (RFC 6749 section 4.1.2). */
export async function checkUsedCode({ results, recording, http }: Round, grant: Grant): Promise<void> {
  const answer = await sendOrNull(http, { ...grant.exchange, body: String(grant.exchange.body) })
  if (!answer) return results.notSeen('used-code', AGAIN)
  checkRefusal(results, 'used-code', answer)
  recording.refusal('usedCode', answer)
}

/** Refreshes with the latest token, to see whether the grant has ended. Resolves to whether it has. */
export async function checkRevoked(round: Round, grant: Grant): Promise<boolean> {
  const { results, recording } = round
  if (!grant.refreshToken) return true
  const { outcome, answer } = await refresh(round, grant, grant.refreshToken)
  if (outcome !== 'refused') {
    const how = 'Withdraw the access of this app on the platform, then press “Check again”.'
    results.notSeen('revoked-refresh-token', outcome === 'no answer' ? AGAIN : how)
    return false
  }
  checkRefusal(results, 'revoked-refresh-token', answer)
  recording.refusal('revokedRefreshToken', answer)
  return true
}
