/** What the store holds of connect flows that have started and not finished. */
import * as z from 'zod'
import { type FailureCode, isFailureCode } from './errors.ts'

/**
 * A started request that has not finished. `expiresAt` is in ms since 1970. `stored`: the digests of what was stored for the
 * bxcontexts that have arrived so far, the latest last. `bxcontext`: the latest one that arrived.
 */
export const pendingSchema = z.array(
  z.object({
    id: z.string(),
    expiresAt: z.number(),
    expected: z.string().optional(),
    stored: z.array(z.string()).default([]),
    bxcontext: z.string().optional(),
  }),
)
export type PendingRequest = z.infer<typeof pendingSchema>[number]

const failureCode = z.custom<FailureCode>(isFailureCode)
const common = {
  authorizationRequestId: z.string(),
  session: z.string(),
  bxcontext: z.string(),
  expected: z.string().optional(),
  expiresAt: z.number(),
}
const confirmingSchema = z.object({ ...common, phase: z.literal('confirming'), expected: z.string() })
export const requestSchema = z.discriminatedUnion('phase', [
  confirmingSchema,
  z.object({ ...common, phase: z.literal('consenting'), encryptedVerifier: z.string() }),
  z.object({ ...common, phase: z.literal('exchanging') }),
  // The user has chosen another business since.
  z.object({ ...common, phase: z.literal('replaced') }),
  z.object({
    ...common,
    phase: z.literal('ended'),
    outcome: z.union([z.object({ connected: z.string() }), z.object({ failed: failureCode })]),
  }),
])
export type StoredRequest = z.infer<typeof requestSchema>
export type ConsentingRequest = Extract<StoredRequest, { phase: 'consenting' }>
export type NewRequest =
  | Omit<z.infer<typeof confirmingSchema>, 'session'>
  | Omit<ConsentingRequest, 'session'>
