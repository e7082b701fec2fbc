import { randomBytes } from 'node:crypto'
import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { PriceProvider } from '../price-provider.ts'
import { openPriceList, type PriceList } from './price-list.ts'

/** How often the folder is looked at, in ms: how long a new price list waits at most. */
const LOOK_MS = 200
/** When a price list that could not be read is tried again, in ms. */
const AGAIN_MS = 10_000
/** Price lists that stay: the live one, and the one before it, to go back to. */
const KEPT = 2
/** A draft that is older than this was left behind, in ms. */
const LEFT_MS = 86_400_000
const NAME = /^\d{4}-\d{2}-\d{2}T[\d-]+Z-[\da-f]{8}\.sqlite$/

/** The price lists of a folder, the latest last: their names begin with the time of their loading. */
function names(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => NAME.test(name))
      .sort()
  } catch {
    return []
  }
}

/** Whether the folder has a price list. */
export const hasPriceList = (folder: string) => names(folder).length > 0

/** The name that makes a price list the live one: later than all others, also if the clock went back. */
export function nextName(folder: string): string {
  const stamp = (ms: number) => new Date(ms).toISOString().replaceAll(/[:.]/g, '-')
  const last = names(folder).at(-1) ?? ''
  let ms = Date.now()
  const [, day = '', hour, minute, second, milli] = /^(.{10})T(\d+)-(\d+)-(\d+)-(\d+)Z/.exec(last) ?? []
  if (day) ms = Math.max(ms, Date.parse(`${day}T${hour}:${minute}:${second}.${milli}Z`) + 1)
  return `${stamp(ms)}-${randomBytes(4).toString('hex')}.sqlite`
}

/** Removes what is no longer needed; what cannot be removed is left to the next load. */
export function tidy(folder: string): void {
  const old = names(folder).slice(0, -KEPT)
  const left = readdirSync(folder).filter(
    (name) => name.includes('.loading') && Date.now() - modified(join(folder, name)) > LEFT_MS,
  )
  for (const name of [...old, ...left]) {
    try {
      rmSync(join(folder, name), { force: true })
    } catch {
      // It is open in a process that has not seen the newer one yet.
    }
  }
}

function modified(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()
}

/** No price list was loaded; the callers are told that prices are not available. */
export class NoPriceListError extends Error {
  constructor(folder: string) {
    super(`there is no price list in ${folder}: npm run load-prices -- FOLDER makes one`)
    this.name = 'NoPriceListError'
  }
}

export interface PriceLists extends PriceProvider {
  /** Whether there is a price list. */
  loaded(): boolean
  close(): void
}

/**
 * The live price list of a folder, as `load-prices` leaves them there: a call sees one price list, from its first line
 * to its last, and a newer one is taken up between two calls.
 */
export function openPriceLists(folder: string, log: Logger, now: () => number = Date.now): PriceLists {
  let live: { name: string; list: PriceList } | undefined
  /** When each was last found so. */
  const unreadable = new Map<string, number>()
  let lookedAt = Number.NEGATIVE_INFINITY

  function look(): void {
    if (performance.now() - lookedAt < LOOK_MS) return
    lookedAt = performance.now()
    // Of those that can be read, the newest.
    for (const name of names(folder).reverse()) {
      if (name === live?.name) return
      if (performance.now() - (unreadable.get(name) ?? Number.NEGATIVE_INFINITY) < AGAIN_MS) continue
      try {
        const list = openPriceList(join(folder, name), now)
        // No call is under way: each is answered without a pause.
        live?.list.close()
        live = { name, list }
        log.info({ priceList: name }, 'price list')
        return
      } catch (error) {
        unreadable.set(name, performance.now())
        log.error({ priceList: name, reason: (error as Error).message }, 'a price list cannot be read')
      }
    }
  }

  function current(): PriceList {
    look()
    if (!live) throw new NoPriceListError(folder)
    return live.list
  }

  return {
    loaded() {
      look()
      return live !== undefined
    },
    store: (id) => current().store(id),
    nearest: (place, limit) => current().nearest(place, limit),
    prices: (lines, memberNumber) => current().prices(lines, memberNumber),
    close: () => live?.list.close(),
  }
}
