import type { Request, Response } from 'express'

const MAX_TOP = 100

/** A page by OData's `$top`, `$skip` and `$orderby`, with the total when `$count=true`. */
export function sendPage(req: Request, res: Response, records: object[]): void {
  const { $top = String(MAX_TOP), $skip = '0', $orderby, $count } = req.query
  const [top, skip] = [whole($top), whole($skip)]
  if (top === undefined || skip === undefined) {
    return void res
      .status(400)
      .json({ error: 'invalid_query', message: '$top and $skip must be whole numbers' })
  }
  const sorted = order(records, $orderby)
  if (!sorted)
    return void res
      .status(400)
      .json({ error: 'invalid_query', message: '$orderby must be: field [asc|desc]' })
  if ($count === 'true') res.set('x-odata-total-count', String(records.length))
  res.json(sorted.slice(skip, skip + Math.min(top, MAX_TOP)))
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
