/** Finds out which items of an upload the platform has rejected, although it answered with success. */

/** Names of members that list what was rejected, or count it. */
const LIST = /^(errors?|failures?|failed|rejected|rejections?|invalid|problems?|issues?)(items|rows|lines)?$/i
const COUNT =
  /^(error|failure|failed|rejected|invalid)(items|rows|lines)?(count|total)$|^(failed|rejected|invalid)$/i
const FAILED_STATUS = /^(error|failed|rejected|invalid)$/i
/** How deep an answer is searched. */
const MAX_DEPTH = 4
/** How much of a reason is kept, in characters. */
const MAX_REASON = 200

export interface Rejected {
  count: number
  /** What the platform says of each, as far as it does. */
  reasons: string[]
}

/**
 * The items that an answer to an upload lists as rejected, in whatever shape: the specification does not show it. An answer
 * without such a list has accepted all items.
 */
export function rejectedIn(answer: unknown, depth = 0): Rejected {
  if (depth > MAX_DEPTH || typeof answer !== 'object' || answer === null) return { count: 0, reasons: [] }
  if (Array.isArray(answer)) return sum(answer.map((entry) => rejectedEntry(entry, depth)))
  const lists: Rejected[] = []
  const counts: number[] = []
  for (const [name, value] of Object.entries(answer)) {
    if (LIST.test(name) && (Array.isArray(value) || isRecord(value))) {
      const entries = Array.isArray(value) ? value : Object.entries(value).map(([key, of]) => ({ [key]: of }))
      lists.push({ count: entries.length, reasons: entries.map(reasonOf) })
    } else if (COUNT.test(name) && Number(value) > 0) counts.push(Number(value))
    else lists.push(rejectedIn(value, depth + 1))
  }
  const listed = sum(lists)
  const isRefused = 'success' in answer && answer.success === false && listed.count === 0
  return { count: Math.max(listed.count, ...counts, isRefused ? 1 : 0), reasons: listed.reasons }
}

/** An element of a list with a result for each item. */
function rejectedEntry(entry: unknown, depth: number): Rejected {
  if (!isRecord(entry)) return { count: 0, reasons: [] }
  const isFailed =
    entry.success === false ||
    FAILED_STATUS.test(String(entry.status ?? '')) ||
    Object.entries(entry).some(([name, value]) => /^error(code|message)?$/i.test(name) && Boolean(value))
  return isFailed ? { count: 1, reasons: [reasonOf(entry)] } : rejectedIn(entry, depth + 1)
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const sum = (all: Rejected[]): Rejected => ({
  count: all.reduce((total, { count }) => total + count, 0),
  reasons: all.flatMap(({ reasons }) => reasons),
})

const reasonOf = (entry: unknown): string =>
  (typeof entry === 'string' ? entry : (JSON.stringify(entry) ?? '')).slice(0, MAX_REASON)
