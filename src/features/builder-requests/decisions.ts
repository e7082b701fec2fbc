import * as z from 'zod'
import { type ConnectionRef, parseJson } from '../../connect/index.ts'
import type { Key, KeyValueStore } from '../../connect/stores.ts'
import type { BuilderRequest } from './contract.ts'

/** What became of a builder's request here. The platform has no list of past requests. */
export const decisionSchema = z.object({
  integrationConnectionId: z.string(),
  builder: z.string().nullable(),
  externalRef: z.string().nullable(),
  decision: z.enum(['accepted', 'rejected']),
  /** The name of the user who decided. */
  decidedBy: z.string(),
  decidedAt: z.iso.datetime(),
})
export type Decision = z.infer<typeof decisionSchema>

export interface Decisions {
  /** Keeps a decision. It is made even if this fails: errors of the store are ignored. */
  note(ref: ConnectionRef, decision: Decision): Promise<void>
  /** The latest 100 of a connection, the latest first. */
  list(ref: ConnectionRef): Promise<Decision[]>
}

const KIND = 'builder-decision'
const MAX_KEPT = 100

export function createDecisions(store: KeyValueStore): Decisions {
  const prefixOf = ({ bxcontext }: ConnectionRef) => `${bxcontext} `
  async function entries(ref: ConnectionRef): Promise<{ key: Key; decision: Decision }[]> {
    const found = await store.list(KIND, ref.userId)
    return found
      .filter(({ key }) => key.id.startsWith(prefixOf(ref)))
      .flatMap(({ key, value }) => {
        const { data } = decisionSchema.safeParse(parseJson(value))
        return data ? [{ key, decision: data }] : []
      })
      .sort((a, b) => b.decision.decidedAt.localeCompare(a.decision.decidedAt))
  }
  return {
    async note(ref, decision) {
      const id = prefixOf(ref) + decision.integrationConnectionId
      try {
        await store.set({ kind: KIND, owner: ref.userId, id }, JSON.stringify(decision))
        for (const { key } of (await entries(ref)).slice(MAX_KEPT)) await store.delete(key)
      } catch {}
    },
    list: async (ref) => (await entries(ref)).map(({ decision }) => decision),
  }
}

/** A decision about a request; `request`: what the platform says of it, if it is known. */
export const decisionOn = (
  integrationConnectionId: string,
  request: BuilderRequest | undefined,
  decision: Decision['decision'],
  decidedBy: string,
): Decision => ({
  integrationConnectionId,
  builder: request?.builder?.name ?? null,
  externalRef: request?.externalRef ?? null,
  decision,
  decidedBy,
  decidedAt: new Date().toISOString(),
})
