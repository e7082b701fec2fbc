import * as z from 'zod'
import type { Platform } from '../platform/contract.ts'
import { parseJson } from '../platform/json.ts'
import type { Tokens } from '../platform/token-answer.ts'
import type { Key } from '../store/store.ts'

/** Identifies a connection: a user of this app, and the business that the user chose on the platform. */
export interface ConnectionRef {
  userId: string
  bxcontext: string
}

/** A ref as one string, for maps in memory: no two refs share one. */
export const refName = ({ userId, bxcontext }: ConnectionRef) => JSON.stringify([userId, bxcontext])

/**
 * The record kind of something that belongs to the connections of a platform. A platform's name has no hyphen, so that no
 * two of them share a kind.
 */
export const kindOf = (platform: string, what: string) => `${platform}-${what}`

/** The storage key of something that belongs to a connection. `platform`: the name of its platform. */
export const refKey = (platform: string, what: string, { userId, bxcontext }: ConnectionRef): Key => ({
  kind: kindOf(platform, what),
  owner: userId,
  id: bxcontext,
})

/** The format of stored connections. */
export const FORMAT = 1

const common = {
  format: z.literal(FORMAT),
  userId: z.string(),
  bxcontext: z.string(),
  /** The latest act of consent; a refresh of an earlier one must not change this record. */
  grantId: z.string(),
  /** The granted scopes, or null if the platform did not name them. */
  scopes: z.array(z.string()).nullable(),
  /** The names of the business and the person, if the platform reports them. */
  businessName: z.string().optional(),
  userName: z.string().optional(),
  /** When the code of this grant was sent. All times are in ms since 1970, by this app's clock. */
  connectedAt: z.number(),
  refreshedAt: z.number().nullable(),
}

const activeSchema = z.object({
  ...common,
  status: z.literal('active'),
  accessToken: z.string(),
  refreshToken: z.string().nullable(),
  /** When the request for these tokens was sent: of two results, the one requested later wins. */
  requestedAt: z.number(),
  /** When the access token was received. */
  issuedAt: z.number(),
  /** When the access token expires; null: the platform did not report it, and there is no refresh token. */
  expiresAt: z.number().nullable(),
  /** How many times this grant was refreshed. */
  refreshes: z.number(),
  /** Whether the last refresh returned a new refresh token. */
  refreshTokenRotated: z.boolean(),
})

const revokedSchema = z.object({
  ...common,
  status: z.literal('revoked'),
  revokedAt: z.number(),
  revokedReason: z.string(),
})

/** Why a grant is stored as revoked (`revokedReason`). */
export const REVOKED_REASONS = {
  invalidGrant:
    'The platform no longer accepts this grant (invalid_grant): the user revoked it, or it expired.',
  expired: 'The access token expired and no refresh token was issued.',
  rejected: "The platform's API rejected the access token three times and no refresh token was issued.",
} as const

/** One user's granted access to one bxcontext, as it is encrypted into the store. A revoked one holds no tokens. */
export const connectionSchema = z.discriminatedUnion('status', [activeSchema, revokedSchema])
export type Connection = z.infer<typeof connectionSchema>
export type ActiveConnection = z.infer<typeof activeSchema>
export type RevokedConnection = z.infer<typeof revokedSchema>

/** Parses a stored connection; null if it is invalid. */
export function parseConnection(text: string): Connection | null {
  return connectionSchema.safeParse(parseJson(text)).data ?? null
}

/**
 * The connection with the tokens of a response, counted as a refresh. `requestedAt` and `issuedAt` are by this app's clock
 * (ms since 1970), so the platform's clock does not matter.
 */
export function withTokens(
  { assumedLifetimeMs }: Pick<Platform, 'assumedLifetimeMs'>,
  connection: Omit<ActiveConnection, 'accessToken' | 'requestedAt' | 'issuedAt' | 'expiresAt'>,
  tokens: Tokens,
  requestedAt: number,
  issuedAt: number,
): ActiveConnection {
  const refreshToken = tokens.refreshToken ?? connection.refreshToken
  // Without a lifetime, a token that can be refreshed is refreshed soon; one that cannot is used until the API rejects it.
  const { expiresIn } = tokens
  const assumedExpiry = refreshToken === null ? null : issuedAt + assumedLifetimeMs
  const hasLifetime = expiresIn !== undefined && (expiresIn > 0 || refreshToken !== null)
  return {
    ...connection,
    accessToken: tokens.accessToken,
    refreshToken,
    scopes: tokens.scopes ?? connection.scopes,
    businessName: tokens.businessName ?? connection.businessName,
    userName: tokens.userName ?? connection.userName,
    requestedAt,
    issuedAt,
    refreshedAt: issuedAt,
    refreshes: connection.refreshes + 1,
    refreshTokenRotated: refreshToken !== connection.refreshToken,
    expiresAt: hasLifetime ? issuedAt + expiresIn * 1000 : assumedExpiry,
  }
}

/** The refresh fields of a new connection. `withTokens` counts every response as a refresh, so `connect` resets them. */
export const NOT_REFRESHED = { refreshedAt: null, refreshes: 0, refreshTokenRotated: false } as const

export const isExpired = ({ expiresAt }: ActiveConnection, now: number) =>
  expiresAt !== null && expiresAt <= now
