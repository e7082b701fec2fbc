import { createSecretKey, hkdfSync } from 'node:crypto'
import { jwtVerify, SignJWT } from 'jose'

export interface TokenOptions {
  /** Keys from which the signing keys are derived. The first key signs; all keys verify. */
  keys: readonly { id: string; secret: Uint8Array }[]
  /** The `{supplier_base_url}`; tokens issued for another base URL are rejected. */
  baseUrl: string
  /** Lifetime of a token, in seconds; 900 by default. */
  tokenSeconds?: number
  /** The clock, in ms since 1970. */
  now?: () => number
}

export type Tokens = ReturnType<typeof createTokens>

const HEADER = { alg: 'HS256', typ: 'at+jwt' }

/** Issues and verifies access tokens as signed JWTs (RFC 7519, 9068), which are valid in every process of the app. */
export function createTokens({ keys, baseUrl, tokenSeconds = 900, now = Date.now }: TokenOptions) {
  const derive = (secret: Uint8Array) => hkdfSync('sha256', secret, '', 'live pricing access token', 32)
  const signing = new Map(keys.map(({ id, secret }) => [id, createSecretKey(Buffer.from(derive(secret)))]))
  const [first] = signing
  if (!first) throw new Error('there is no key to sign access tokens with')
  const [kid, key] = first
  return {
    lifetime: tokenSeconds,

    issue(clientId: string): Promise<string> {
      const iat = Math.floor(now() / 1000)
      const claims = { sub: clientId, iss: baseUrl, aud: baseUrl, iat, exp: iat + tokenSeconds }
      return new SignJWT(claims).setProtectedHeader({ ...HEADER, kid }).sign(key)
    },

    /** Resolves to the client that the token was issued to, or undefined if it is invalid or has expired. */
    async verify(token: string): Promise<string | undefined> {
      const keyOf = ({ kid = '' }: { kid?: string }) =>
        signing.get(kid) ?? Promise.reject(new Error('unknown key'))
      const verified = await jwtVerify(token, keyOf, {
        algorithms: [HEADER.alg],
        typ: HEADER.typ,
        audience: baseUrl,
        issuer: baseUrl,
        requiredClaims: ['sub', 'exp', 'iat'],
        currentDate: new Date(now()),
      }).catch(() => undefined)
      return verified?.payload.sub
    },
  }
}
