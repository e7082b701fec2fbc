import * as z from 'zod'
import { parseJson } from '../../connect/index.ts'
import { type KeyValueStore, update } from '../../connect/stores.ts'
import {
  CONNECT_MS,
  type Flow,
  flowSchema,
  isPlatformPage,
  MAX_STEPS,
  type Step,
  type Summary,
  summarize,
  summarySchema,
} from './flow.ts'
import { isNewPage } from './sandbox-pages.ts'

/** How long a flow is kept after its last step, in ms. */
const TTL_MS = 24 * 3_600_000
/** How many flows of a user are kept. */
export const MAX_FLOWS = 200
/** How many of them may be imported. */
const MAX_IMPORTED = 20

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

/** Creates the store of recorded flows; `now`: the clock, in ms since 1970. */
export function createFlowStore(store: KeyValueStore, now: () => number = Date.now): FlowStore {
  const find = async (userId: string, id: string) => parseFlow(await store.get(keyOf(userId, id)))

  return {
    find,

    async list(userId) {
      const summaries = parseIndex(await store.get(indexKey(userId)))
      const oldest = now() - TTL_MS
      return summaries
        .filter(({ storedAt }) => storedAt > oldest)
        .map((summary) => current(summary, now()))
        .sort((a, b) => listedAt(b) - listedAt(a))
    },

    async append(userId, additions) {
      const flows = await Promise.all(additions.map((addition) => appendTo(store, userId, addition)))
      await updateIndex(
        store,
        userId,
        flows.map((flow) => summarize(flow, now())),
      )
    },

    async save(userId, flow) {
      await store.set(keyOf(userId, flow.id), JSON.stringify(flow), TTL_MS)
      await updateIndex(store, userId, [summarize(flow, now())])
    },

    async clear(userId) {
      const summaries = parseIndex(await store.get(indexKey(userId)))
      await store.delete(indexKey(userId))
      await Promise.all(summaries.map(({ id }) => store.delete(keyOf(userId, id))))
    },
  }
}

/** Adds steps to a flow, and resolves to it. */
async function appendTo(
  store: KeyValueStore,
  userId: string,
  { id, bxcontext, steps }: FlowAddition,
): Promise<Flow> {
  const key = keyOf(userId, id)
  const none: Flow = { id, bxcontext: null, imported: false, steps: [], omitted: 0 }
  let next = none
  // The user may choose another business until the consent: the last one counts.
  const change = (value: string | null) => {
    const flow = parseFlow(value) ?? none
    next = withSteps({ ...flow, bxcontext: bxcontext ?? flow.bxcontext }, steps)
    return JSON.stringify(next)
  }
  await update(store, key, change, TTL_MS)
  return next
}

/** Puts summaries at the front of the user's list, and deletes the flows that it has no room for. */
async function updateIndex(
  store: KeyValueStore,
  userId: string,
  summaries: readonly Summary[],
): Promise<void> {
  let dropped: Summary[] = []
  const change = (value: string | null) => {
    const all = merge(parseIndex(value), summaries)
    all.sort((a, b) => b.storedAt - a.storedAt)
    const imported = all.filter((summary) => summary.imported)
    const kept = all.filter((summary) => !imported.slice(MAX_IMPORTED).includes(summary)).slice(0, MAX_FLOWS)
    dropped = all.filter((summary) => !kept.includes(summary))
    return JSON.stringify(kept)
  }
  await update(store, indexKey(userId), change, TTL_MS)
  await Promise.all(dropped.map(({ id }) => store.delete(keyOf(userId, id))))
}

/** Puts summaries in place of older ones. Another process may have added steps in the meantime. */
function merge(stored: readonly Summary[], summaries: readonly Summary[]): Summary[] {
  const all = new Map(stored.map((summary) => [summary.id, summary]))
  for (const summary of summaries)
    if ((all.get(summary.id)?.steps ?? 0) <= summary.steps) all.set(summary.id, summary)
  return [...all.values()]
}

/** Adds steps in the order of their times. */
function withSteps(flow: Flow, added: readonly Step[]): Flow {
  const isNew = (step: Step) => !isPlatformPage(step.topic) || isNewPage(flow, step)
  const steps = inOrder([...flow.steps, ...added.filter(isNew)])
  return {
    ...flow,
    // The last one says how the flow ended.
    steps: steps.length > MAX_STEPS ? [...steps.slice(0, MAX_STEPS - 1), ...steps.slice(-1)] : steps,
    omitted: flow.omitted + Math.max(0, steps.length - MAX_STEPS),
  }
}

function inOrder(all: readonly Step[]): Step[] {
  const byTime = all.toSorted((a, b) => a.at.localeCompare(b.at))
  const ordered = byTime.filter(({ topic }) => !isPlatformPage(topic))
  for (const page of byTime.filter(({ topic }) => isPlatformPage(topic))) {
    // A page may send the browser back within the same millisecond; it is added later than the app's steps.
    const comesBack = page.to === 'identity_provider' ? 'callback_received' : 'bxcontext_received'
    const next = ordered.findIndex(({ at, topic }) => at > page.at || (at === page.at && topic === comesBack))
    ordered.splice(next === -1 ? ordered.length : next, 0, page)
  }
  return ordered
}

/** A connect flow that was left is abandoned when its time is over. */
function current(summary: Summary, now: number): Summary {
  const { outcome, startedAt, storedAt } = summary
  const isOver = outcome === 'running' && now - Date.parse(startedAt) > CONNECT_MS
  return isOver ? { ...summary, outcome: 'abandoned', endedAt: new Date(storedAt).toISOString() } : summary
}

/** An imported flow is listed by when it was imported. */
const listedAt = ({ imported, storedAt, startedAt }: Summary) => (imported ? storedAt : Date.parse(startedAt))

/** A flow that cannot be read, for example of another version, counts as absent. */
const parseFlow = (value: string | null): Flow | null =>
  value === null ? null : (flowSchema.safeParse(parseJson(value)).data ?? null)

const parseIndex = (value: string | null): Summary[] =>
  value === null ? [] : (z.array(summarySchema).safeParse(parseJson(value)).data ?? [])
