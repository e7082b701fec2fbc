import type { Request } from 'express'
import type { Page, PageOf } from '../connect/platform/api.ts'
import { MAX_PAGE } from '../connect/platform/contract.ts'
import { badInput } from './errors.ts'

const PAGE_SIZE = 25
const FURTHEST = 1_000_000

/** `?top=&skip=` of a list page. Throws `invalid_input` (400) that names the parameter. */
export function pageOf(req: Request): Required<Pick<Page, 'top' | 'skip'>> {
  return { top: whole(req, 'top', PAGE_SIZE, 1, MAX_PAGE), skip: whole(req, 'skip', 0, 0, FURTHEST) }
}

function whole(req: Request, name: string, fallback: number, min: number, max: number): number {
  const value = req.query[name]
  if (value === undefined || value === '') return fallback
  const number = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN
  if (number >= min && number <= max) return number
  throw badInput(name, `enter one whole number from ${min} to ${max}`)
}

/** Which records a page shows, and the links to the ones before and after. */
export function pager({ items, total }: PageOf<unknown>, { top, skip }: { top: number; skip: number }) {
  const hasMore = total === null ? items.length === top : skip + items.length < total
  return {
    from: items.length > 0 ? skip + 1 : 0,
    to: skip + items.length,
    total,
    previous: skip > 0 ? `?top=${top}&skip=${Math.max(0, skip - top)}` : null,
    next: hasMore ? `?top=${top}&skip=${skip + top}` : null,
  }
}
