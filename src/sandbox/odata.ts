import type { Request, Response } from 'express'
import { PLATFORM } from './platform.ts'

const { paging } = PLATFORM

/** Selects a page by OData's `$top`, `$skip`, `$orderby` and `$filter`, and returns the total for `$count=true`. */
export function sendPage(req: Request, res: Response, records: object[]) {
  const { query } = req
  const invalid = (message: string) => void res.status(400).json({ error: 'invalid_query', message })
  const top = whole(query[paging.top] ?? String(paging.maxTop))
  const skip = whole(query[paging.skip] ?? '0')
  if (top === undefined || skip === undefined)
    return invalid(`${paging.top} and ${paging.skip} must be whole numbers`)
  const found = filter(records, query[paging.filter])
  if (!found)
    return invalid(`${paging.filter} must be: field eq 'text' or contains(field,'text'), joined by and`)
  const sorted = order(found, query[paging.orderBy])
  if (!sorted) return invalid(`${paging.orderBy} must be: field [asc|desc]`)
  if (query[paging.count] === 'true') res.set(paging.totalHeader, String(found.length))
  res.json(sorted.slice(skip, skip + Math.min(top, paging.maxTop)))
}

function whole(value: unknown): number | undefined {
  return typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : undefined
}

/** A condition of a `$filter`, with the `and` before the next condition. Quotes inside texts are doubled. */
const CONDITION = /(?:(\w+) eq '((?:[^']|'')*)'|contains\((\w+), ?'((?:[^']|'')*)'\))(?: and (?=.)|$)/y

/** The records that match; undefined if the filter cannot be read. A search ignores case, as people do. */
function filter(records: object[], given: unknown): object[] | undefined {
  if (given === undefined) return records
  const text = String(given)
  let found = records
  CONDITION.lastIndex = 0
  while (CONDITION.lastIndex < text.length) {
    const match = CONDITION.exec(text)
    if (!match) return undefined
    const [, equal, value = '', contains, part = ''] = match
    const field = equal ?? contains ?? ''
    if (records.length > 0 && !records.some((record) => field in record)) return undefined
    const [wanted, isPart] = [(contains ? part : value).replaceAll("''", "'"), contains !== undefined]
    found = found.filter((record) => {
      const actual = String(Object(record)[field] ?? '')
      return isPart ? actual.toLowerCase().includes(wanted.toLowerCase()) : actual === wanted
    })
  }
  return found
}

function order(records: object[], orderBy: unknown): object[] | undefined {
  if (orderBy === undefined) return records
  const [, field = '', direction] = /^(\w+)(?: (asc|desc))?$/.exec(String(orderBy)) ?? []
  if (!records.every((record) => Object.hasOwn(record, field))) return undefined
  const key = (record: object) => (record as Record<string, string | number>)[field] ?? ''
  const sign = direction === 'desc' ? -1 : 1
  return records.toSorted((a, b) => sign * (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0))
}
