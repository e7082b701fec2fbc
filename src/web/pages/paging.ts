import * as z from 'zod'
import { type Page, type PageOf, platform } from '../../connect/index.ts'
import { texts } from '../texts.ts'

const PAGE_SIZE = 25
const MAX_SKIP = 1_000_000
const MAX_SEARCH = 100
/** How many earlier pages the address remembers. Pages before these may overlap. */
const MAX_STARTS = 100

/** The choices in the controls of a list. */
export interface ListControls {
  /** The field of a filter, its displayed label, and its values with their labels. */
  filter?: { field: string; label: string; values: Readonly<Record<string, string>> }
  /** The orders with their displayed labels, by their name in the address. */
  orders: Readonly<Record<string, { label: string }>>
  /** The label of the default order. */
  unordered?: string
}

/** How users can narrow and order a list, by fields of the platform's records. */
export interface ListFields extends ListControls {
  /** The field that a search looks into. */
  search: string
  filter: NonNullable<ListControls['filter']>
  /** `orderBy`: OData `$orderby`. */
  orders: Readonly<Record<string, { orderBy: string; label: string }>>
}

/** An empty text counts as missing. */
const whole = (min: number, max: number, fallback: number) => {
  const rule = texts.rules.wholeNumber(min, max)
  const number = z.coerce.number(rule).int(rule).min(min, rule).max(max, rule).default(fallback)
  return z.preprocess((given) => (given === '' ? undefined : given), number)
}
/** An empty or missing text means no choice. */
const oneOf = (values: readonly string[]) =>
  // Create the message only if necessary, because the first use of `Intl.ListFormat` takes as long as loading a package.
  z.enum(['', ...values], { error: () => texts.rules.oneOf(values) }).default('')

/** Query parameters of a page of a list. */
export const pageQuery = z.object({
  top: whole(1, platform.paging.maxTop, PAGE_SIZE),
  skip: whole(0, MAX_SKIP, 0),
  /** The `next.after` of the previous page, to notice if the platform sends that page again. */
  after: z.string().max(100).default(''),
})

/** Query parameters of a list that can be narrowed and ordered. */
export const listQuery = ({ filter, orders }: ListControls) =>
  pageQuery.extend({
    search: z.string(texts.rules.text).trim().max(MAX_SEARCH, texts.rules.tooLong(MAX_SEARCH)).default(''),
    filter: oneOf(Object.keys(filter?.values ?? {})),
    order: oneOf(Object.keys(orders)),
    /** The `skip` values of the earlier pages, separated by dots, if pages were not full. */
    starts: z
      .string()
      .regex(/^[\d.]{0,2000}$/, texts.rules.invalid)
      .default(''),
  })

/** The part of a list that the address asks for. */
export interface ListChoice extends z.output<ReturnType<typeof listQuery>> {
  /** Other parameters of the address that links to other pages keep. */
  keep?: Readonly<Record<string, string>>
}

/** Converts a choice to the parameters of a request to the platform. */
export function platformPage(
  { top, skip, after, search, filter, order }: ListChoice,
  fields: ListFields,
): Page {
  const { contains, equals, all } = platform.paging
  const conditions = [
    ...(search ? [contains(fields.search, search)] : []),
    ...(filter ? [equals(fields.filter.field, filter)] : []),
  ]
  const orderBy = order && fields.orders[order]?.orderBy
  return {
    top,
    skip,
    after,
    ...(conditions.length > 0 && { filter: all(conditions) }),
    ...(orderBy && { orderBy }),
  }
}

/** The range of records on a page, and links to other pages. `first` is set if a later page has no records. */
export function pager({ items, total, next, repeated }: PageOf<unknown>, choice: ListChoice) {
  const { top, skip } = choice
  const starts = choice.starts ? choice.starts.split('.') : []
  const isFull = starts.length === 0 && (items.length === top || next === null)
  const isPastEnd = items.length === 0 && skip > 0
  const hrefOf = (skip: number, starts: (string | number)[] = [], after = '') =>
    addressOf({ ...choice, skip, after, starts: starts.join('.') })
  return {
    from: items.length > 0 ? skip + 1 : 0,
    to: skip + items.length,
    total,
    repeated,
    first: isPastEnd ? hrefOf(0) : null,
    previous:
      skip > 0 && (!isPastEnd || choice.after)
        ? hrefOf(Number(starts.at(-1) ?? Math.max(0, skip - top)), starts.slice(0, -1))
        : null,
    next: next && hrefOf(next.skip, isFull ? [] : [...starts, skip].slice(-MAX_STARTS), next.after),
  }
}

function addressOf({ top, skip, keep, ...chosen }: ListChoice): string {
  const query = new URLSearchParams({ top: String(top), skip: String(skip) })
  for (const [name, value] of Object.entries({ ...chosen, ...keep })) if (value) query.set(name, value)
  return `?${query}`
}
