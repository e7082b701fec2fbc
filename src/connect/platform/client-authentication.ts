/** The credentials of a program at a token endpoint (RFC 6749 section 2.3.1). */
export interface ClientCredentials {
  clientId: string
  clientSecret: string
}

/** The names are those of RFC 7591 section 2. */
export type TokenEndpointAuthMethod = 'client_secret_post' | 'client_secret_basic'

/**
 * Adds the client id and the secret to a request to the platform or to the sign-in service (RFC 6749 section 2.3.1). For HTTP
 * Basic, hyphen, dot and underscore are not encoded, because some servers don't decode the value.
 */
export function authenticateClient(
  { clientId, clientSecret }: ClientCredentials,
  method: TokenEndpointAuthMethod,
  body: URLSearchParams,
  headers: Headers,
): void {
  switch (method) {
    case 'client_secret_post':
      body.set('client_id', clientId)
      body.set('client_secret', clientSecret)
      break
    case 'client_secret_basic':
      headers.set('authorization', `Basic ${btoa(`${formEncoded(clientId)}:${formEncoded(clientSecret)}`)}`)
      break
    default:
      method satisfies never
  }
}

const formEncoded = (text: string) => new URLSearchParams([['', text]]).toString().slice(1)
