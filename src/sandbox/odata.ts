import type { Request, Response } from 'express'
import { PLATFORM } from './platform.ts'

const { paging } = PLATFORM

/** A page by OData's `$top`, `$skip` and `$orderby`, with the total when `$count=true`. */
export function sendPage(req: Request, res: Response, records: object[]): void {
  const { query } = req
  const top = whole(query[paging.top] ?? String(paging.maxTop))
  const skip = whole(query[paging.skip] ?? '0')
  if (top === undefined || skip === undefined) {
    return void res
      .status(400)
      .json({ error: 'invalid_query', message: `${paging.top} and ${paging.skip} must be whole numbers` })
  }
  const sorted = order(records, query[paging.orderBy])
  if (!sorted)
    return void res
      .status(400)
      .json({ error: 'invalid_query', message: `${paging.orderBy} must be: field [asc|desc]` })
  if (query[paging.count] === 'true') res.set(paging.totalHeader, String(records.length))
  res.json(sorted.slice(skip, skip + Math.min(top, paging.maxTop)))
}

function whole(value: unknown): number | undefined {
  return typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : undefined
}

function order(records: object[], orderBy: unknown): object[] | undefined {
  if (orderBy === undefined) return records
  const [, field = '', direction] = /^(\w+)(?: (asc|desc))?$/.exec(String(orderBy)) ?? []
  if (!records.every((record) => Object.hasOwn(record, field))) return undefined
  const key = (record: object) => (record as Record<string, string | number>)[field] ?? ''
  const sign = direction === 'desc' ? -1 : 1
  return records.toSorted((a, b) => sign * (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0))
}
