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

function whole(req: Request, name: string, absent: number, least: number, most: number): number {
  const value = req.query[name]
  if (value === undefined || value === '') return absent
  const number = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN
  if (number >= least && number <= most) return number
  throw badInput(name, `please give one whole number from ${least} to ${most}`)
}

/** Which records a page shows, and the links to the ones before and after. */
export function pager({ items, total }: PageOf<unknown>, { top, skip }: { top: number; skip: number }) {
  const more = total === null ? items.length === top : skip + items.length < total
  return {
    ...{ from: items.length > 0 ? skip + 1 : 0, to: skip + items.length, total },
    previous: skip > 0 ? `?top=${top}&skip=${Math.max(0, skip - top)}` : null,
    next: more ? `?top=${top}&skip=${skip + top}` : null,
  }
}
