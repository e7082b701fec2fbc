import { hkdfSync } from 'node:crypto'
import { jwtVerify, SignJWT } from 'jose'

export interface TokensOptions {
  /** The first signs, all verify; what is used is derived from them. */
  keys: readonly { id: string; secret: Uint8Array }[]
  /** The base address that the tokens are for; one of another base is refused. */
  audience: string
  /** How long a token is valid, in seconds. */
  lifetime: number
  /** The clock, in ms since 1970. */
  now: () => number
}

export interface Tokens {
  lifetime: number
  issue(clientId: string): Promise<string>
  /** The client that the token was issued to; undefined for one that is not ours, or has ended. */
  verify(token: string): Promise<string | undefined>
}

const ALGORITHM = 'HS256'
const MOST_KNOWN = 1000

/** Access tokens as signed JWTs (RFC 7519), so that every process of the app knows those of the others. */
export function createTokens({ keys, audience, lifetime, now }: TokensOptions): Tokens {
  const signing = keys.map(({ id, secret }) => ({
    id,
    key: new Uint8Array(hkdfSync('sha256', secret, '', 'connect-starter live pricing access token', 32)),
  }))
  /** Tokens that were verified: a caller uses one until it ends. */
  const known = new Map<string, { client: string; endsAt: number }>()

  return {
    lifetime,

    async issue(clientId) {
      const [first] = signing
      if (!first) throw new Error('there is no key to sign access tokens with')
      const seconds = Math.floor(now() / 1000)
      return new SignJWT({})
        .setProtectedHeader({ alg: ALGORITHM, typ: 'at+jwt', kid: first.id })
        .setSubject(clientId)
        .setIssuer(audience)
        .setAudience(audience)
        .setIssuedAt(seconds)
        .setExpirationTime(seconds + lifetime)
        .sign(first.key)
    },

    async verify(token) {
      const seen = known.get(token)
      if (seen) {
        if (seen.endsAt > now()) return seen.client
        known.delete(token)
        return undefined
      }
      try {
        const { payload } = await jwtVerify(
          token,
          async ({ kid }) => {
            const named = signing.find(({ id }) => id === kid)
            if (!named) throw new Error('unknown key')
            return named.key
          },
          {
            algorithms: [ALGORITHM],
            typ: 'at+jwt',
            audience,
            issuer: audience,
            requiredClaims: ['sub', 'exp', 'iat'],
            currentDate: new Date(now()),
          },
        )
        const client = String(payload.sub)
        if (known.size >= MOST_KNOWN) known.clear()
        known.set(token, { client, endsAt: Number(payload.exp) * 1000 })
        return client
      } catch {
        return undefined
      }
    },
  }
}
