import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto'
import { jwtVerify, SignJWT } from 'jose'

export interface TokensOptions {
  /** Keys from which the signing keys are derived: the first signs, all of them verify. */
  keys: readonly { id: string; secret: Uint8Array }[]
  /** The base URL that the tokens are valid for. */
  audience: string
  /** Lifetime of a token, in seconds. */
  lifetime: number
  /** The clock, in ms since 1970. */
  now: () => number
}

export type Tokens = ReturnType<typeof createTokens>

const ALGORITHM = 'HS256'
const TYPE = 'at+jwt'

/** Issues and verifies access tokens as signed JWTs (RFC 7519, 9068), which are valid in every process of the app. */
export function createTokens({ keys, audience, lifetime, now }: TokensOptions) {
  const signing = new Map(keys.map(({ id, secret }) => [id, signingKey(secret)]))
  const [first] = signing
  if (!first) throw new Error('there is no key to sign access tokens with')
  const [kid, key] = first
  return {
    lifetime,

    issue(clientId: string): Promise<string> {
      const seconds = Math.floor(now() / 1000)
      return new SignJWT({})
        .setProtectedHeader({ alg: ALGORITHM, typ: TYPE, kid })
        .setSubject(clientId)
        .setIssuer(audience)
        .setAudience(audience)
        .setIssuedAt(seconds)
        .setExpirationTime(seconds + lifetime)
        .sign(key)
    },

    /** Resolves to the client that the token was issued to, or undefined if it is invalid or has expired. */
    async verify(token: string): Promise<string | undefined> {
      if (!isCanonical(token)) return undefined
      const keyOf = (header: { kid?: string }) => {
        const match = signing.get(header.kid ?? '')
        if (!match) throw new Error('unknown key')
        return match
      }
      const verified = await jwtVerify(token, keyOf, {
        algorithms: [ALGORITHM],
        typ: TYPE,
        audience,
        issuer: audience,
        requiredClaims: ['sub', 'exp', 'iat'],
        currentDate: new Date(now()),
      }).catch(() => undefined)
      return verified?.payload.sub
    },
  }
}

/** Derives a key for signing from one for encryption. */
function signingKey(secret: Uint8Array): KeyObject {
  const bytes = hkdfSync('sha256', secret, '', 'live pricing access token', 32)
  return createSecretKey(Buffer.from(bytes))
}

/** Whether each part of a JWT is the only base64url form of its bytes: decoders ignore unused bits of the last character. */
const isCanonical = (token: string) =>
  token.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part)
