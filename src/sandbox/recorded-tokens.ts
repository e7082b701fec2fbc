import { type Recorded, shaped } from './recorded.ts'

/** A response of the token endpoint, as it is sent. */
export interface TokenResponse {
  status: number
  body: unknown
}

/** Changes a response of the token endpoint to that of a recorded platform. */
export function recordedTokenResponse(
  recorded: Recorded,
  endpoint: 'exchange' | 'refresh',
  { status, body }: TokenResponse,
): TokenResponse {
  if (status === 200) return { status, body: withFields(recorded, endpoint, Object(body)) }
  const { error } = Object(body)
  const refusal = endpoint === 'exchange' ? recorded.usedCode : recorded.revokedRefreshToken
  if (error !== 'invalid_grant' || !refusal) return { status, body }
  return {
    status: refusal.status,
    body: refusal.error === undefined ? { message: 'Refused.' } : { error: refusal.error },
  }
}

function withFields({ token, refresh }: Recorded, endpoint: 'exchange' | 'refresh', body: object): object {
  const answer = token ? shaped(body, token.fields) : { ...body }
  const issued = (body as { refresh_token?: unknown }).refresh_token
  const keeps =
    endpoint === 'exchange'
      ? token?.fields.refresh_token !== undefined || !token
      : refresh?.refreshToken !== 'none'
  const { refresh_token: _, ...rest } = answer as { refresh_token?: unknown }
  return keeps && issued !== undefined ? { ...rest, refresh_token: issued } : rest
}
