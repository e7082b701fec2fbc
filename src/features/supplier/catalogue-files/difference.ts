/** Pure functions that compare a file with the items that a catalogue has received before. */
import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { type Item, keyOf, OPTIONAL } from './items.ts'

/** A price that is higher or lower than before. */
export interface Change {
  code: string
  name?: string
  before: number
  after: number
  /** The change, rounded to 0.1% and at least that; null if the price was 0. */
  percent: number | null
}

type PriceKind = 'zero' | 'halved' | 'doubled'

/** A reason why a person must tick a box before the file is sent, with its first case. */
export type Question =
  | { kind: PriceKind; count: number; first: Change }
  /** A new code equals a missing code without its leading zeros. */
  | { kind: 'leadingZeros'; count: number; code: string; missing: string }
  /** `of`: how many codes the catalogue received before. */
  | { kind: 'gone'; count: number; of: number }

export interface Difference {
  /** Whether this is the catalogue's first file. */
  isFirst: boolean
  /** `otherTexts`: the price is the same, but the name, description, unit or category is different. */
  counts: Record<Verdict | 'gone', number>
  /** The changes with the largest ratios first, at most twenty. */
  changes: Change[]
  /** The first twenty new items, in the order of the file. */
  added: Item[]
  /** The first twenty items that are no longer in the file. They stay in the catalogue. */
  gone: Item[]
  asks: Question[]
  /** Identifies exactly these items and this comparison, by 16 hex digits. */
  code: string
}

type Verdict = 'added' | 'higher' | 'lower' | 'otherTexts' | 'same'

const SHOWN = 20
/** How many items are compared before other requests get a turn. */
const BATCH = 1_000

/**
 * Compares a file with the items that its catalogue has received, by the `keyOf` their codes; null if it has received no file. An
 * item with a different price counts as higher or lower, even if its texts differ too.
 */
export async function compare(
  items: readonly Item[],
  received: ReadonlyMap<string, Item> | null,
): Promise<Difference> {
  const before = received ?? new Map<string, Item>()
  const code = createHash('sha256').update(String(received === null))
  const counts = { added: 0, higher: 0, lower: 0, otherTexts: 0, same: 0, gone: 0 }
  const added = new Map<string, Item>()
  const missing = new Map(before)
  const asked: Change[] = []
  let changes: Change[] = []
  for (const [index, item] of items.entries()) {
    if (index % BATCH === 0) {
      changes = largest(changes)
      await setImmediate()
    }
    const key = keyOf(item.code)
    const old = before.get(key)
    missing.delete(key)
    counts[verdictOf(item, old)]++
    code.update(JSON.stringify([item, old]))
    if (!old) added.set(key, item)
    else if (item.price !== old.price) {
      const change = changeOf(item, old.price)
      changes.push(change)
      if (kindOf(change)) asked.push(change)
    }
  }
  const gone = [...missing.values()]
  for (const item of gone) code.update(JSON.stringify(item))
  counts.gone = gone.length
  return {
    isFirst: received === null,
    counts,
    changes: largest(changes),
    added: [...added.values().take(SHOWN)],
    gone: gone.slice(0, SHOWN),
    asks: [...askedOf(asked), ...zerosLost(gone, added), ...manyGone(gone.length, before.size)],
    code: code.digest('hex').slice(0, 16),
  }
}

function verdictOf(item: Item, old: Item | undefined): Verdict {
  if (!old) return 'added'
  if (item.price !== old.price) return item.price > old.price ? 'higher' : 'lower'
  return OPTIONAL.every((field) => item[field] === old[field]) ? 'same' : 'otherTexts'
}

/** The ratio of the larger price to the smaller price; Infinity if one of them is 0. */
const ratioOf = ({ before, after }: Change): number => Math.max(before, after) / Math.min(before, after)

/** The changes with the largest ratios. */
const largest = (changes: readonly Change[]): Change[] =>
  changes.toSorted((a, b) => ratioOf(b) - ratioOf(a)).slice(0, SHOWN)

const changeOf = ({ code, name, price }: Item, before: number): Change => ({
  code,
  ...(name && { name }),
  before,
  after: price,
  percent: percentOf(before, price),
})

/** Why a person has to confirm a change; null if it is small. */
function kindOf({ before, after }: Change): PriceKind | null {
  if (after === 0) return 'zero'
  if (after <= before / 2) return 'halved'
  return after >= before * 2 ? 'doubled' : null
}

const askedOf = (changes: readonly Change[]): Question[] =>
  Map.groupBy(changes, kindOf)
    .entries()
    .toArray()
    .flatMap(([kind, [first, ...others]]) =>
      kind && first ? [{ kind, count: 1 + others.length, first }] : [],
    )

function percentOf(before: number, after: number): number | null {
  if (before === 0) return null
  const percent = Math.round((after / before - 1) * 1000) / 10
  return percent === 0 ? Math.sign(after - before) / 10 : percent
}

/** A spreadsheet that reads codes as numbers drops leading zeros. Then the old codes are missing, and the short codes look new. */
function zerosLost(missing: readonly Item[], added: ReadonlyMap<string, Item>): Question[] {
  const lost = missing.flatMap(({ code }) => {
    const item = added.get(keyOf(code).replace(/^0+(?=.)/, ''))
    return item ? [{ code: item.code, missing: code }] : []
  })
  const [first] = lost
  return first ? [{ kind: 'leadingZeros', count: lost.length, ...first }] : []
}

const manyGone = (count: number, of: number): Question[] =>
  count * 10 > of ? [{ kind: 'gone', count, of }] : []
