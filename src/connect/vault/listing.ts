/** Pages of a user's connections. Only a search, a filter or a sort by name reads connections of other pages. */
import { setImmediate } from 'node:timers/promises'
import type { PageOf } from '../platform/api.ts'
import type { ConnectionRecord, ConnectionRef } from './connection.ts'
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
  /** Whether to list only connections that need the user: a new consent, or a permission. */
  needsUser?: boolean
  /** By default, the latest connections come first. Then, on each page, connections that need the user come first. */
  order?: 'name' | undefined
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

/** Whether a listing depends on what each connection contains, so that all of them must be read. */
export const concernsAll = ({ search = '', needsUser = false, order }: Listing): boolean =>
  search !== '' || needsUser || order !== undefined

/** The connections that a listing asks for, in its order. */
export function select(described: readonly Described[], listing: Listing): Described[] {
  const wanted = listing.search?.toLowerCase() ?? ''
  const found = described.filter(
    (one) =>
      (!listing.needsUser || needsUser(one)) &&
      [...namesOf(one), one.bxcontext].some((name) => name.toLowerCase().includes(wanted)),
  )
  if (listing.order === undefined) return found
  const { compare } = new Intl.Collator(undefined, { sensitivity: 'base', numeric: true })
  const first = (one: Described) => namesOf(one)[0] ?? one.bxcontext
  return found.sort((a, b) => compare(first(a), first(b)))
}

/** A page with these connections. `total`: the number of connections on all pages. */
export function pageOf(items: Described[], total: number, { skip, top, order }: Listing): PageOf<Described> {
  if (order === undefined) items.sort((a, b) => Number(needsUser(b)) - Number(needsUser(a)))
  const next = skip + top < total ? { skip: skip + top, after: '' } : null
  return { items, total, next, repeated: false }
}

/** Whether only the user can make the connection work again. */
function needsUser({ view }: Described): boolean {
  switch (view.state) {
    case 'revoked':
    case 'needs_consent':
    case 'unreadable':
      return true
    case 'degraded':
      return view.canReconnect
    case 'active':
    case 'misconfigured':
      return false
  }
}

const namesOf = (one: Described): string[] =>
  'label' in one ? [one.label, one.businessName].filter((name) => name !== null) : []
