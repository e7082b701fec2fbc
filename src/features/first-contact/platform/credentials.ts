import { type Answer, errorOf, isOAuthError } from '../answers.ts'

/**
 * What a token endpoint says about our client id and secret when it gets a code that was never issued (RFC 6749 section 5.2).
 * `refused`: the error is exactly `invalid_client`. `accepted`: it is another error, and the client with a made-up secret (`twin`)
 * is refused by name. Otherwise it is `not proven`, because many servers look at the code first.
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
