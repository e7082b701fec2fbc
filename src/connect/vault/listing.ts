/** A user's connections, sorted, page by page. Only a search or a sort by name decrypts connections of other pages. */
import { setImmediate } from 'node:timers/promises'
import type { PageOf } from '../platform/api.ts'
import { type ConnectionRecord, type ConnectionRef, viewOf } from './connection.ts'
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
  /** By default, connections that need the user (a new consent or a permission) come first, then as with `used`. */
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

/** Resolves to a page of the list. `describe` decrypts a connection. */
export async function pageOf(
  listed: readonly Listed[],
  { skip, top, search = '', order }: Listing,
  { requestedScopes, now }: { requestedScopes: readonly string[]; now: number },
  describe: (one: Listed) => Described,
): Promise<PageOf<Described>> {
  const needsUser = ({ record }: Listed) => {
    if (record === null) return true
    const view = viewOf(record, requestedScopes, now)
    return view.state === 'degraded' ? view.canReconnect : ['revoked', 'needs_consent'].includes(view.state)
  }
  const ranked = await inTurns(listed, (one) => ({
    one,
    rank: order === undefined && needsUser(one) ? 0 : 1,
    usedAt: lastUse(one.record),
  }))
  ranked.sort((a, b) => a.rank - b.rank || b.usedAt - a.usedAt)
  const sorted = ranked.map(({ one }) => one)
  const page = <T>(found: readonly T[]) => found.slice(skip, skip + top)
  const isByName = search !== '' || order === 'name'
  const found = isByName ? select(await inTurns(sorted, describe), search, order) : null
  const { length: total } = found ?? sorted
  return {
    items: found ? page(found) : page(sorted).map(describe),
    total,
    next: skip + top < total ? { skip: skip + top, after: '' } : null,
    repeated: false,
  }
}

/** When a connection was last used, or else when it was connected. */
function lastUse(record: ConnectionRecord | null): number {
  if (record === null || record.status === 'none') return 0
  return record.usedAt ?? record.connectedAt
}

function select(described: readonly Described[], search: string, order: Listing['order']): Described[] {
  const wanted = search.toLowerCase()
  const found = described.filter((one) =>
    [...namesOf(one), one.bxcontext].some((name) => name.toLowerCase().includes(wanted)),
  )
  if (order !== 'name') return found
  const { compare } = new Intl.Collator(undefined, { sensitivity: 'base', numeric: true })
  const first = (one: Described) => namesOf(one)[0] ?? one.bxcontext
  return found.sort((a, b) => compare(first(a), first(b)))
}

const namesOf = (one: Described): string[] =>
  'label' in one ? [one.label, one.businessName].filter((name) => name !== null) : []
