/** Pages of a user's connections. Only a search, or a sort by name or by use, reads connections of other pages. */
import { setImmediate } from 'node:timers/promises'
import type { PageOf } from '../platform/api.ts'
import { type ConnectionRecord, type ConnectionRef, needsUser } from './connection.ts'
import type { Connection, UnreadableConnection } from './description.ts'

/** A stored connection. `record`: null if it cannot be read. */
export interface Listed {
  ref: ConnectionRef
  record: ConnectionRecord | null
}

/** Which connections of a user to list. */
export interface Listing {
  skip: number
  top: number
  /** A part of the label, of the business name or of the bxcontext. Case doesn't matter. */
  search?: string
  /** By default, see `placeOf`. */
  order?: 'name' | 'used' | undefined
}

type Described = Connection | UnreadableConnection

/** How many records are processed before other requests get their turn: a few milliseconds of work. */
const AT_ONCE = 100

/** Calls `work` for each item, and lets other requests run in between. */
export async function inTurns<T, R>(items: readonly T[], work: (item: T) => R): Promise<R[]> {
  const results: R[] = []
  for (const item of items) {
    if (results.length % AT_ONCE === AT_ONCE - 1) await setImmediate()
    results.push(work(item))
  }
  return results
}

/** Whether a listing concerns the names or the last use of each connection, so that all of them must be read. */
export const concernsAll = ({ search = '', order }: Listing): boolean => search !== '' || order !== undefined

/** The connections that a listing asks for, in its order. */
export function select(described: readonly Described[], { search = '', order }: Listing): Described[] {
  const wanted = search.toLowerCase()
  const found = described.filter((one) =>
    [...namesOf(one), one.bxcontext].some((name) => name.toLowerCase().includes(wanted)),
  )
  const { compare } = new Intl.Collator(undefined, { sensitivity: 'base', numeric: true })
  const first = (one: Described) => namesOf(one)[0] ?? one.bxcontext
  if (order === 'name') return found.sort((a, b) => compare(first(a), first(b)))
  found.sort((a, b) => lastUsed(b) - lastUsed(a))
  return order === 'used' ? found : needsUserFirst(found)
}

/** A page with these connections. `total`: the number of connections on all pages. */
export function pageOf(items: Described[], total: number, { skip, top }: Listing): PageOf<Described> {
  const next = skip + top < total ? { skip: skip + top, after: '' } : null
  return { items, total, next, repeated: false }
}

/** Sorts connections that need the user before the others: the requested scopes may have changed since a record got its place. */
export const needsUserFirst = (found: Described[]): Described[] =>
  found.sort((a, b) => Number(isUrgent(b)) - Number(isUrgent(a)))

const isUrgent = ({ view }: Described): boolean =>
  view.state === 'unreadable' || (view.state !== 'misconfigured' && needsUser(view))

const lastUsed = (one: Described): number => ('lastUsedAt' in one && one.lastUsedAt) || one.connectedAt || 0

const namesOf = (one: Described): string[] =>
  'label' in one ? [one.label, one.businessName].filter((name) => name !== null) : []
