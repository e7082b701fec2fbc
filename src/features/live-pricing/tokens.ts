import { hkdfSync, type webcrypto } from 'node:crypto'

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

export interface Tokens {
  /** Lifetime of a token, in seconds. */
  lifetime: number
  issue(clientId: string): Promise<string>
  /** Resolves to the client that the token was issued to, or undefined if it is invalid or has expired. */
  verify(token: string): Promise<string | undefined>
}

/** Loaded with the first token: it is 5 % of the start. */
const jose = () => import('jose')

const ALGORITHM = 'HS256'
const MAX_CACHED = 1000

interface SigningKey {
  id: string
  key: Promise<webcrypto.CryptoKey>
}

/** Issues and verifies access tokens as signed JWTs (RFC 7519), which are valid in every process of the app. */
export function createTokens(options: TokensOptions): Tokens {
  const { keys, lifetime, now } = options
  const signing = keys.map(({ id, secret }) => ({ id, key: importKey(secret) }))
  /** The last token of each client: another one of the same second would be the same text. */
  const issued = new Map<string, { seconds: number; token: Promise<string> }>()
  /** Verified tokens: callers reuse a token until it expires. */
  const cache = new Map<string, { client: string; expiresAt: number }>()
  return {
    lifetime,

    async issue(clientId) {
      const seconds = Math.floor(now() / 1000)
      const last = issued.get(clientId)
      if (last?.seconds === seconds) return last.token
      const token = sign(options, signing, clientId, seconds)
      issued.set(clientId, { seconds, token })
      return token
    },

    async verify(token) {
      const cached = cache.get(token)
      if (cached) {
        if (cached.expiresAt > now()) return cached.client
        cache.delete(token)
        return undefined
      }
      if (!isCanonical(token)) return undefined
      const { jwtVerify } = await jose()
      const payload = await verifyJwt(jwtVerify, options, signing, token).catch(() => undefined)
      if (!payload) return undefined
      const client = String(payload.sub)
      if (cache.size >= MAX_CACHED) cache.clear()
      cache.set(token, { client, expiresAt: Number(payload.exp) * 1000 })
      return client
    },
  }
}

async function sign(
  { audience, lifetime }: TokensOptions,
  [first]: readonly SigningKey[],
  clientId: string,
  seconds: number,
): Promise<string> {
  if (!first) throw new Error('there is no key to sign access tokens with')
  const { SignJWT } = await jose()
  return new SignJWT({})
    .setProtectedHeader({ alg: ALGORITHM, typ: 'at+jwt', kid: first.id })
    .setSubject(clientId)
    .setIssuer(audience)
    .setAudience(audience)
    .setIssuedAt(seconds)
    .setExpirationTime(seconds + lifetime)
    .sign(await first.key)
}

/** The claims of a token. Throws if it is invalid or has expired. */
async function verifyJwt(
  jwtVerify: Awaited<ReturnType<typeof jose>>['jwtVerify'],
  { audience, now }: TokensOptions,
  signing: readonly SigningKey[],
  token: string,
) {
  const keyOf = async ({ kid }: { kid?: string }) => {
    const match = signing.find(({ id }) => id === kid)
    if (!match) throw new Error('unknown key')
    return match.key
  }
  const { payload } = await jwtVerify(token, keyOf, {
    algorithms: [ALGORITHM],
    typ: 'at+jwt',
    audience,
    issuer: audience,
    requiredClaims: ['sub', 'exp', 'iat'],
    currentDate: new Date(now()),
  })
  return payload
}

/** Derives a signing key. Imported once: jose would import bytes anew for each token, which takes as long as to sign it. */
async function importKey(secret: Uint8Array): Promise<webcrypto.CryptoKey> {
  const bytes = hkdfSync('sha256', secret, '', 'live pricing access token', 32)
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify'])
}

/** Whether each part of a JWT is the only base64url form of its bytes: decoders ignore unused bits of the last character. */
const isCanonical = (token: string) =>
  token.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part)
