import * as z from 'zod'
import { parseJson } from '../../connect/index.ts'
import { type KeyValueStore, update } from '../../connect/stores.ts'
import {
  current,
  type Flow,
  flowSchema,
  MAX_STEPS,
  type Step,
  type Summary,
  summarize,
  summarySchema,
} from './flow.ts'

/** How long a flow is kept after its last step, in ms. */
const TTL_MS = 24 * 3_600_000
/** How many flows of a user are kept. */
export const MAX_FLOWS = 200

export type FlowStore = ReturnType<typeof createFlowStore>

export type FlowAddition = Pick<Flow, 'id' | 'bxcontext' | 'steps'>

const keyOf = (userId: string, id: string) => ({ kind: 'flow', owner: userId, id })
const indexKey = (userId: string) => ({ kind: 'flow-index', owner: userId, id: '' })

/** The recorded flows of each user. Every method throws `StoreUnavailableError`. `now`: the clock, in ms since 1970. */
export function createFlowStore(store: KeyValueStore, now = Date.now) {
  return {
    /** Adds steps to flows of a user, and creates flows that do not exist. Other processes may do the same at the same time. */
    async append(userId: string, additions: readonly FlowAddition[]): Promise<void> {
      const flows = await Promise.all(additions.map((addition) => appendTo(store, userId, addition)))
      const summaries = flows.map((flow) => summarize(flow, now()))
      await updateIndex(store, userId, summaries)
    },
    /** Resolves to null if the user has no such flow. */
    find: async (userId: string, id: string): Promise<Flow | null> =>
      parseFlow(await store.get(keyOf(userId, id))),
    /** The user's flows, the latest first. */
    async list(userId: string): Promise<Summary[]> {
      const summaries = parseIndex(await store.get(indexKey(userId)))
      return summaries
        .filter(({ storedAt }) => storedAt > now() - TTL_MS)
        .map((summary) => current(summary, now()))
        .sort((a, b) => Date.parse(b.startedAt) - Date.parse(a.startedAt))
    },
  }
}

/** Adds steps to a flow, and resolves to it. */
async function appendTo(store: KeyValueStore, userId: string, addition: FlowAddition): Promise<Flow> {
  const { id, bxcontext, steps } = addition
  const none: Flow = { id, bxcontext: null, steps: [], omitted: 0 }
  let next = none
  const change = (value: string | null) => {
    const flow = parseFlow(value) ?? none
    // A flow may begin with the business to reconnect, and continue with another one that the user chose. The last business counts.
    next = withSteps({ ...flow, bxcontext: bxcontext ?? flow.bxcontext }, steps)
    return JSON.stringify(next)
  }
  await update(store, keyOf(userId, id), change, TTL_MS)
  return next
}

/** Puts summaries at the front of the user's list, and deletes the flows that no longer fit. */
async function updateIndex(
  store: KeyValueStore,
  userId: string,
  summaries: readonly Summary[],
): Promise<void> {
  let dropped: Summary[] = []
  const change = (value: string | null) => {
    const all = merge(parseIndex(value), summaries).sort((a, b) => b.storedAt - a.storedAt)
    dropped = all.slice(MAX_FLOWS)
    return JSON.stringify(all.slice(0, MAX_FLOWS))
  }
  await update(store, indexKey(userId), change, TTL_MS)
  await Promise.all(dropped.map(({ id }) => store.delete(keyOf(userId, id))))
}

/** Replaces older summaries. Keeps a stored summary with more steps, because another process may have added them since then. */
function merge(stored: readonly Summary[], summaries: readonly Summary[]): Summary[] {
  const all = new Map(stored.map((summary) => [summary.id, summary]))
  for (const summary of summaries)
    if ((all.get(summary.id)?.steps ?? 0) <= summary.steps) all.set(summary.id, summary)
  return [...all.values()]
}

/** Adds steps in order of time. Within a millisecond, the browser's request comes first, since it causes the others. */
function withSteps(flow: Flow, added: readonly Step[]): Flow {
  const rank = ({ from }: Step) => (from === 'browser' ? 0 : 1)
  const steps = [...flow.steps, ...added].sort((a, b) => a.at.localeCompare(b.at) || rank(a) - rank(b))
  return {
    ...flow,
    // The last step is always kept, because it shows how the flow ended.
    steps: steps.length > MAX_STEPS ? [...steps.slice(0, MAX_STEPS - 1), ...steps.slice(-1)] : steps,
    omitted: flow.omitted + Math.max(0, steps.length - MAX_STEPS),
  }
}

/** A flow that cannot be read, for example of another version, counts as absent. */
const parseFlow = (value: string | null): Flow | null =>
  value === null ? null : (flowSchema.safeParse(parseJson(value)).data ?? null)

const parseIndex = (value: string | null): Summary[] =>
  value === null ? [] : (z.array(summarySchema).safeParse(parseJson(value)).data ?? [])
