import * as z from 'zod'

/** The format that this version of the app writes. */
export const FORMAT = 2

const common = {
  format: z.literal(FORMAT),
  userId: z.string(),
  context: z.string(),
  /** The latest act of consent; a refresh of an earlier one must not touch this record. */
  grantId: z.string(),
  /** The granted scopes, or null when the platform did not name them. */
  scopes: z.array(z.string()).nullable(),
  /** Times are in ms since 1970, by this app's clock. When the code of this grant was sent to be exchanged. */
  connectedAt: z.number(),
  refreshedAt: z.number().nullable(),
}

const activeSchema = z.object({
  ...common,
  status: z.literal('active'),
  accessToken: z.string(),
  refreshToken: z.string().nullable(),
  /** When the request that brought these tokens was sent: of two results, the one sent later counts. */
  requestedAt: z.number(),
  /** When the access token was received, and when it expires; null: the platform did not say, and nothing refreshes it. */
  issuedAt: z.number(),
  expiresAt: z.number().nullable(),
})

const revokedSchema = z.object({
  ...common,
  status: z.literal('revoked'),
  revokedAt: z.number(),
  revokedBecause: z.string(),
})

/** One user's granted access in one context, as it is encrypted into the store. A revoked one holds no tokens. */
export const connectionSchema = z.discriminatedUnion('status', [activeSchema, revokedSchema])
export type Connection = z.infer<typeof connectionSchema>
export type ActiveConnection = z.infer<typeof activeSchema>
export type RevokedConnection = z.infer<typeof revokedSchema>

/** Reads a stored connection of this or an earlier format; null when it has neither. */
export function parseConnection(text: string): Connection | null {
  try {
    const parsed = connectionSchema.safeParse(migrate(JSON.parse(text)))
    return parsed.success ? parsed.data : null
  } catch {
    return null
  }
}

/** Format 1 had no `format` and no `requestedAt`. */
function migrate(record: { format?: unknown; issuedAt?: unknown }): unknown {
  if (record.format !== undefined) return record
  return { ...record, format: FORMAT, requestedAt: record.issuedAt }
}
