import { randomUUID } from 'node:crypto'
import type { KoaContextWithOIDC } from 'oidc-provider'

/** A token request that was answered, with its secrets. It stays in this process. */
export interface TokenExchange {
  /** Sent as `x-request-id`. */
  id: string
  /** ISO 8601. */
  at: string
  parameters: Record<string, string>
  status: number
  /** The members of the answer. */
  answer: Record<string, unknown>
  /**
   * Issues another authorization code for the consent of this request, with what the first code had. Undefined if the request had no
   * valid code.
   */
  issueCode?: () => Promise<string>
  /** Whether the access that this request gave or renewed has ended. */
  hasEnded(): Promise<boolean>
}

const MAX_EXCHANGES = 200

export type TokenExchanges = ReturnType<typeof createTokenExchanges>

/** Remembers the latest token requests, in memory. */
export function createTokenExchanges() {
  const exchanges = new Map<string, TokenExchange>()
  return {
    /** Remembers the request of this context, which has been answered, and returns its id. */
    add(ctx: KoaContextWithOIDC): string {
      const id = randomUUID()
      const parameters = Object.entries(ctx.oidc.body ?? {}).filter(
        (entry): entry is [string, string] => typeof entry[1] === 'string',
      )
      const issueCode = codeIssuer(ctx)
      const { AuthorizationCode: code, RefreshToken: refreshToken } = ctx.oidc.entities
      const grantId = code?.grantId ?? refreshToken?.grantId
      exchanges.set(id, {
        id,
        at: new Date().toISOString(),
        parameters: Object.fromEntries(parameters),
        status: ctx.status,
        answer: { ...(ctx.body as object) },
        ...(issueCode && { issueCode }),
        hasEnded: async () =>
          grantId !== undefined && (await ctx.oidc.provider.Grant.find(grantId)) === undefined,
      })
      const [oldest] = exchanges.keys()
      if (exchanges.size > MAX_EXCHANGES && oldest !== undefined) exchanges.delete(oldest)
      return id
    },
    find: (id: string) => exchanges.get(id),
    clear: () => exchanges.clear(),
  }
}

function codeIssuer({ oidc }: KoaContextWithOIDC): (() => Promise<string>) | undefined {
  const { AuthorizationCode: code, Client: client } = oidc.entities
  if (!code?.accountId || !code.grantId || !client) return undefined
  const { accountId, grantId, redirectUri, scope = '', codeChallenge, codeChallengeMethod } = code
  const consented = { accountId, grantId, redirectUri, scope, codeChallenge, codeChallengeMethod }
  const { AuthorizationCode } = oidc.provider
  return () => new AuthorizationCode({ ...consented, client, gty: 'authorization_code' }).save()
}
