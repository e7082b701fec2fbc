import type { Request } from 'express'
import * as z from 'zod'
import { type Page, type PageOf, platform } from '../connect/index.ts'
import { badInput } from './errors.ts'
import { texts } from './texts.ts'

const PAGE_SIZE = 25
const MAX_SKIP = 1_000_000

/** Parses `?top=&skip=`. Throws `invalid_input` (400) naming the invalid parameter. */
export function pageOf(req: Request): Required<Pick<Page, 'top' | 'skip'>> {
  return {
    top: readInteger(req, 'top', PAGE_SIZE, 1, platform.paging.maxTop),
    skip: readInteger(req, 'skip', 0, 0, MAX_SKIP),
  }
}

function readInteger(req: Request, name: string, fallback: number, min: number, max: number): number {
  const value = req.query[name]
  if (value === undefined || value === '') return fallback
  const number = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN
  if (number >= min && number <= max) return number
  throw badInput(name, texts.rules.wholeNumber(min, max))
}

/** The range of records on a page, and links to other pages. `first` is set on a page after the last record only. */
export function pager({ items, total }: PageOf<unknown>, { top, skip }: { top: number; skip: number }) {
  const hasMore = total === null ? items.length === top : skip + items.length < total
  const isPastEnd = items.length === 0 && skip > 0
  return {
    from: items.length > 0 ? skip + 1 : 0,
    to: skip + items.length,
    total,
    first: isPastEnd ? `?top=${top}` : null,
    previous: skip > 0 && !isPastEnd ? `?top=${top}&skip=${Math.max(0, skip - top)}` : null,
    next: hasMore ? `?top=${top}&skip=${skip + top}` : null,
  }
}

/** Query parameters of a list. */
export const pageQuery = z.object({
  top: z.number().int().min(1).max(platform.paging.maxTop).optional(),
  skip: z.number().int().min(0).optional(),
})

/** The schema of a page of a list. */
export const pageOfSchema = <T extends z.ZodType>(item: T) =>
  z.object({ items: z.array(item), total: z.number().nullable() })
