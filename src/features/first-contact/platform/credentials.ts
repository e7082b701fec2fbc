import { type Answer, errorOf, isOAuthError } from '../answers.ts'

/**
 * Judges our client id and secret by what a token endpoint answers to a code that was never issued (RFC 6749 section 5.2).
 * `refused`: the error is exactly `invalid_client`. `accepted`: it is another error, and for a made-up secret (`twin`) the error
 * says that the client is refused. Otherwise they are `not proven`, because many servers look at the code first.
 */
export async function judgeCredentials(
  ours: Answer,
  twin: () => Promise<Answer>,
): Promise<'accepted' | 'refused' | 'not proven'> {
  if (!isOAuthError(ours)) return 'not proven'
  const error = errorOf(ours)
  if (error === 'invalid_client') return 'refused'
  const other = await twin()
  const refusal = isOAuthError(other) ? (errorOf(other) ?? '') : ''
  const isRefused = /^(invalid_client|unauthorized_client|access_denied)$/.test(refusal)
  return isRefused && refusal !== error ? 'accepted' : 'not proven'
}
