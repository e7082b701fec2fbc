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
  /** Resolves to a flow with what the platform's pages have reported by now, or null. */
  find(userId: string, id: string): Promise<Flow | null>
  /** Adds steps to flows of a user, which are created if necessary; other processes may do the same at the same time. */
  append(userId: string, additions: readonly FlowAddition[]): Promise<void>
}

export type FlowAddition = Pick<Flow, 'id' | 'bxcontext' | 'steps'> &
  Partial<Pick<Flow, 'imported' | 'omitted'>>

export interface FlowStoreOptions {
  /** Finds the steps on the platform's pages that a flow does not have yet. */
  findPageSteps?: ((flow: Flow) => Promise<Step[]>) | undefined
  /** The clock, in ms since 1970. */
  now?: () => number
}

const keyOf = (userId: string, id: string) => ({ kind: 'flow', owner: userId, id })
const indexKey = (userId: string) => ({ kind: 'flow-index', owner: userId, id: '' })

/** Creates the store of recorded flows. */
export function createFlowStore(
  store: KeyValueStore,
  { findPageSteps = async () => [], now = Date.now }: FlowStoreOptions = {},
): FlowStore {
  const read = async (userId: string, id: string) => parseFlow(await store.get(keyOf(userId, id)))

  async function append(userId: string, additions: readonly FlowAddition[]): Promise<void> {
    const flows = await Promise.all(additions.map((addition) => appendTo(store, userId, addition)))
    const summaries = flows.map((flow) => summarize(flow, now()))
    await updateIndex(store, userId, summaries)
  }

  return {
    append,

    async find(userId, id) {
      const flow = await read(userId, id)
      if (!flow || flow.imported || flow.steps.length >= MAX_STEPS) return flow
      const steps = await findPageSteps(flow)
      if (steps.length === 0) return flow
      await append(userId, [{ id, bxcontext: flow.bxcontext, steps }])
      return read(userId, id)
    },

    async list(userId) {
      const summaries = parseIndex(await store.get(indexKey(userId)))
      return summaries
        .filter(({ storedAt }) => storedAt > now() - TTL_MS)
        .map((summary) => current(summary, now()))
        .sort((a, b) => listedAt(b) - listedAt(a))
    },
  }
}

/** Adds steps to a flow, and resolves to it. */
async function appendTo(store: KeyValueStore, userId: string, addition: FlowAddition): Promise<Flow> {
  const { id, bxcontext, steps, imported = false, omitted = 0 } = addition
  const none: Flow = { id, bxcontext: null, imported, steps: [], omitted }
  let next = none
  const change = (value: string | null) => {
    const flow = parseFlow(value) ?? none
    // The user may choose another business until the consent: the last one counts.
    next = withSteps({ ...flow, bxcontext: bxcontext ?? flow.bxcontext }, steps)
    return JSON.stringify(next)
  }
  await update(store, keyOf(userId, id), change, TTL_MS)
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
    const all = merge(parseIndex(value), summaries).sort((a, b) => b.storedAt - a.storedAt)
    const excess = new Set(all.filter(({ imported }) => imported).slice(MAX_IMPORTED))
    const kept = all.filter((summary) => !excess.has(summary)).slice(0, MAX_FLOWS)
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
  // Two readers may have fetched the same pages of the platform.
  const isKnown = (page: Step) => flow.steps.some(({ at, title }) => at === page.at && title === page.title)
  const steps = inOrder([...flow.steps, ...added.filter((step) => !isPlatformPage(step) || !isKnown(step))])
  return {
    ...flow,
    // The last one says how the flow ended.
    steps: steps.length > MAX_STEPS ? [...steps.slice(0, MAX_STEPS - 1), ...steps.slice(-1)] : steps,
    omitted: flow.omitted + Math.max(0, steps.length - MAX_STEPS),
  }
}

function inOrder(all: readonly Step[]): Step[] {
  const byTime = all.toSorted((a, b) => a.at.localeCompare(b.at))
  const ordered = byTime.filter((step) => !isPlatformPage(step))
  for (const page of byTime.filter(isPlatformPage)) {
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
