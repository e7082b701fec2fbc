import { randomBytes } from 'node:crypto'

/** Specification 8: a new refresh token deactivates the oldest when there are more than this. */
const MAX_REFRESH_TOKENS = 200

type Kind = 'access' | 'refresh'
export type FirstPartyTokens = ReturnType<typeof createFirstPartyTokens>

/** The tokens of first-party access (specification 5.2). They last until the sandbox stops; then clients log in again. */
export function createFirstPartyTokens(accessTokenSeconds: number) {
  /** Sorted with the oldest first. */
  const tokens = new Map<string, { kind: Kind; account: string; bxcontext: string; expiresAt: number }>()
  const ofKind = (kind: Kind) => [...tokens].filter(([, token]) => token.kind === kind)
  const add = (kind: Kind, account: string, bxcontext: string, seconds: number) => {
    const token = `fp_${randomBytes(24).toString('base64url')}`
    tokens.set(token, { kind, account, bxcontext, expiresAt: Date.now() + seconds * 1000 })
    return token
  }
  return {
    issue(account: string, bxcontext: string) {
      for (const [token, { expiresAt }] of tokens) if (expiresAt <= Date.now()) tokens.delete(token)
      const accessToken = add('access', account, bxcontext, accessTokenSeconds)
      const refreshToken = add('refresh', account, bxcontext, Number.POSITIVE_INFINITY)
      const all = ofKind('refresh').filter(([, token]) => token.account === account)
      for (const [oldest] of all.slice(0, -MAX_REFRESH_TOKENS)) tokens.delete(oldest)
      return { accessToken, refreshToken, expiresIn: accessTokenSeconds, isSuccessful: true }
    },
    find(kind: Kind, token: unknown) {
      const found = tokens.get(String(token))
      return found?.kind === kind && found.expiresAt > Date.now() ? found : undefined
    },
    remove: (token: unknown) => tokens.delete(String(token)),
    /** Returns the number of expired tokens. */
    expire: (kind: Kind) => ofKind(kind).filter(([token]) => tokens.delete(token)).length,
    reset: () => tokens.clear(),
  }
}
