import * as z from 'zod'
import type { KeyValueStore } from '../../connect/index.ts'
import { parseJson } from '../../connect/platform/http.ts'
import {
  type Flow,
  flowSchema,
  MAX_STEPS,
  type Step,
  type Summary,
  summarize,
  summarySchema,
} from './flow.ts'
import { addStep } from './steps.ts'

/** How long a flow is kept after its last step, in ms. */
const TTL_MS = 24 * 3_600_000
/** How many flows of a user are kept. */
export const MAX_FLOWS = 200

/** The recorded flows of each user. Every method throws `StoreUnavailableError`. */
export interface FlowStore {
  /** The user's flows, the latest first. */
  list(userId: string): Promise<Summary[]>
  find(userId: string, id: string): Promise<Flow | null>
  /** Adds steps to flows of a user, which are created if necessary; other processes may do the same at the same time. */
  append(userId: string, additions: readonly FlowAddition[]): Promise<void>
  /** Stores an imported flow. */
  save(userId: string, flow: Flow): Promise<void>
  /** Deletes all flows of the user. */
  clear(userId: string): Promise<void>
}

export interface FlowAddition {
  id: string
  bxcontext: string | null
  steps: readonly Step[]
}

const keyOf = (userId: string, id: string) => ({ kind: 'flow', owner: userId, id })
const indexKey = (userId: string) => ({ kind: 'flow-index', owner: userId, id: '' })

export function createFlowStore(store: KeyValueStore, now: () => number = Date.now): FlowStore {
  const find = async (userId: string, id: string) => parseFlow(await store.get(keyOf(userId, id)))

  async function appendTo(userId: string, { id, bxcontext, steps }: FlowAddition): Promise<Flow> {
    const key = keyOf(userId, id)
    for (;;) {
      const value = await store.get(key)
      const flow = parseFlow(value) ?? { id, bxcontext: null, imported: false, steps: [], omitted: 0 }
      const next = withSteps({ ...flow, bxcontext: flow.bxcontext ?? bxcontext }, steps)
      if (await store.compareAndSet(key, value, JSON.stringify(next), TTL_MS)) return next
    }
  }

  /** Puts summaries at the front of the user's list, and deletes the flows that it has no room for. */
  async function updateIndex(userId: string, summaries: readonly Summary[]): Promise<void> {
    for (;;) {
      const value = await store.get(indexKey(userId))
      const ids = new Set(summaries.map(({ id }) => id))
      const all = [...summaries, ...parseIndex(value).filter(({ id }) => !ids.has(id))]
      all.sort((a, b) => b.startedAt.localeCompare(a.startedAt))
      const kept = all.slice(0, MAX_FLOWS)
      if (!(await store.compareAndSet(indexKey(userId), value, JSON.stringify(kept), TTL_MS))) continue
      await Promise.all(all.slice(MAX_FLOWS).map(({ id }) => store.delete(keyOf(userId, id))))
      return
    }
  }

  return {
    find,

    async list(userId) {
      const summaries = parseIndex(await store.get(indexKey(userId)))
      const oldest = now() - TTL_MS
      return summaries
        .filter(({ startedAt }) => Date.parse(startedAt) > oldest)
        .map((summary) => current(summary, now()))
    },

    async append(userId, additions) {
      const flows = await Promise.all(additions.map((addition) => appendTo(userId, addition)))
      await updateIndex(
        userId,
        flows.map((flow) => summarize(flow, now())),
      )
    },

    async save(userId, flow) {
      await store.set(keyOf(userId, flow.id), JSON.stringify(flow), TTL_MS)
      await updateIndex(userId, [summarize(flow, now())])
    },

    async clear(userId) {
      const summaries = parseIndex(await store.get(indexKey(userId)))
      await store.delete(indexKey(userId))
      await Promise.all(summaries.map(({ id }) => store.delete(keyOf(userId, id))))
    },
  }
}

/** Adds steps in the order of their times. */
function withSteps(flow: Flow, added: readonly Step[]): Flow {
  // Callers that wait are published before the lock that they wait for, in the same millisecond.
  const rank = ({ topic }: Step) => Number(topic === 'lock_joined')
  const ordered = [...flow.steps, ...added].sort((a, b) => a.at.localeCompare(b.at) || rank(a) - rank(b))
  const steps: Step[] = []
  for (const step of ordered) addStep(steps, step)
  return {
    ...flow,
    steps: steps.slice(0, MAX_STEPS),
    omitted: flow.omitted + Math.max(0, steps.length - MAX_STEPS),
  }
}

/** A connect flow that was left is abandoned when its time is over. */
function current(summary: Summary, now: number): Summary {
  const isOver = summary.outcome === 'running' && now - Date.parse(summary.startedAt) > 15 * 60_000
  return isOver ? { ...summary, outcome: 'abandoned', endedAt: summary.startedAt } : summary
}

/** A flow that cannot be read, for example of another version, counts as absent. */
const parseFlow = (value: string | null): Flow | null =>
  value === null ? null : (flowSchema.safeParse(parseJson(value)).data ?? null)

const parseIndex = (value: string | null): Summary[] =>
  value === null ? [] : (z.array(summarySchema).safeParse(parseJson(value)).data ?? [])
