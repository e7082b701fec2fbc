import * as z from 'zod'

const common = {
  userId: z.string(),
  context: z.string(),
  /** The latest act of consent; a refresh of an earlier one must not touch this record. */
  grantId: z.string(),
  /** The granted scopes, or null when the platform did not name them. */
  scopes: z.array(z.string()).nullable(),
  /** Times are in ms since 1970, by this app's clock. */
  connectedAt: z.number(),
  refreshedAt: z.number().nullable(),
}

const activeSchema = z.object({
  ...common,
  status: z.literal('active'),
  accessToken: z.string(),
  refreshToken: z.string().nullable(),
  /** When the access token was given, and when it ends. */
  issuedAt: z.number(),
  expiresAt: z.number(),
})

const revokedSchema = z.object({
  ...common,
  status: z.literal('revoked'),
  revokedAt: z.number(),
  revokedBecause: z.string(),
})

/** One user's granted access in one context, as it is sealed into the store. A revoked one holds no tokens. */
export const connectionSchema = z.discriminatedUnion('status', [activeSchema, revokedSchema])
export type Connection = z.infer<typeof connectionSchema>
export type ActiveConnection = z.infer<typeof activeSchema>
export type RevokedConnection = z.infer<typeof revokedSchema>
