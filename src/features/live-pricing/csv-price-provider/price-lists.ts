import { randomBytes } from 'node:crypto'
import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { PriceProvider } from '../price-provider.ts'
import { openPriceList, type PriceList } from './price-list.ts'

/** How often to check for a new price list, in ms. */
const CHECK_INTERVAL_MS = 200
/** How long to wait before retrying an unreadable price list, in ms. */
const RETRY_MS = 10_000
/** Price lists to keep: the live one and its predecessor, for rollback. */
const MAX_FILES = 2
/** Minimum age of an abandoned draft, in ms. */
const STALE_DRAFT_MS = 86_400_000
const FILE_NAME = /^\d{4}-\d{2}-\d{2}T[\d-]+Z-[\da-f]{8}\.sqlite$/

/** The price list files in a folder, oldest first: the names start with the time of loading. */
function fileNames(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => FILE_NAME.test(name))
      .sort()
  } catch {
    return []
  }
}

/** Whether the folder contains a price list. */
export const hasPriceList = (folder: string) => fileNames(folder).length > 0

/** Returns a file name that sorts after all others, even if the clock was set back, and so makes a price list live. */
export function nextFileName(folder: string): string {
  const stamp = (ms: number) => new Date(ms).toISOString().replaceAll(/[:.]/g, '-')
  const last = fileNames(folder).at(-1) ?? ''
  let ms = Date.now()
  const [, day = '', hour, minute, second, milli] = /^(.{10})T(\d+)-(\d+)-(\d+)-(\d+)Z/.exec(last) ?? []
  if (day) ms = Math.max(ms, Date.parse(`${day}T${hour}:${minute}:${second}.${milli}Z`) + 1)
  return `${stamp(ms)}-${randomBytes(4).toString('hex')}.sqlite`
}

/** Removes old price lists and abandoned drafts. Files that cannot be removed are left for the next load. */
export function removeOldFiles(folder: string): void {
  const old = fileNames(folder).slice(0, -MAX_FILES)
  const staleDrafts = readdirSync(folder).filter(
    (name) => name.includes('.loading') && Date.now() - modifiedAt(join(folder, name)) > STALE_DRAFT_MS,
  )
  for (const name of [...old, ...staleDrafts]) {
    try {
      rmSync(join(folder, name), { force: true })
    } catch {
      // Still open in a process that has not switched to the new price list.
    }
  }
}

/** Modification time, in ms since 1970. */
function modifiedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()
}

/** The folder has no price list. Callers get the error that prices or stores are unavailable. */
class NoPriceListError extends Error {
  constructor(folder: string) {
    super(`no price list in ${folder}: run npm run feature -- live-pricing load-prices FOLDER`)
    this.name = 'NoPriceListError'
  }
}

export interface PriceLists extends PriceProvider {
  /** Whether a price list is available. */
  loaded(): boolean
  close(): void
}

/**
 * Provides prices from the newest price list that `load-prices` has written to a folder, and switches to a new one
 * between calls. Each call uses a single price list. Methods throw `NoPriceListError` if there is none.
 */
export function openPriceLists(folder: string, log: Logger, now: () => number = Date.now): PriceLists {
  let live: { name: string; list: PriceList } | undefined
  /** Unreadable files, with the time of the last attempt (`performance.now()`). */
  const unreadable = new Map<string, number>()
  let checkedAt = Number.NEGATIVE_INFINITY

  function switchToNewest(): void {
    if (performance.now() - checkedAt < CHECK_INTERVAL_MS) return
    checkedAt = performance.now()
    for (const name of fileNames(folder).reverse()) {
      if (name === live?.name) return
      if (performance.now() - (unreadable.get(name) ?? Number.NEGATIVE_INFINITY) < RETRY_MS) continue
      try {
        const list = openPriceList(join(folder, name), now)
        // No call is using the old list: all methods of a price list run synchronously.
        live?.list.close()
        live = { name, list }
        log.info({ priceList: name }, 'price list loaded')
        return
      } catch (error) {
        unreadable.set(name, performance.now())
        log.error({ priceList: name, reason: (error as Error).message }, 'price list cannot be read')
      }
    }
  }

  function current(): PriceList {
    switchToNewest()
    if (!live) throw new NoPriceListError(folder)
    return live.list
  }

  return {
    loaded() {
      switchToNewest()
      return live !== undefined
    },
    store: (id, signal) => current().store(id, signal),
    nearest: (place, limit, signal) => current().nearest(place, limit, signal),
    prices: (lines, memberNumber, signal) => current().prices(lines, memberNumber, signal),
    close: () => live?.list.close(),
  }
}
