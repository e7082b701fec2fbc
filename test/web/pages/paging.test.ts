import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { type Api, createApi, platform } from '../../../src/connect/index.ts'
import { type ListFields, listQuery, pager, platformPage } from '../../../src/web/pages/paging.ts'

const FIELDS: ListFields = {
  search: 'name',
  filter: { field: 'status', label: 'Status', values: {} },
  orders: {},
}
const SOURCE = {
  accessToken: async () => 'token',
  refresh: async () => 'token',
  grantedScopes: async () => null,
  noteCall: async () => {},
}
const CALL = { path: '/rows', scope: 'leads', schema: z.array(z.object({ id: z.number() })) }

interface Platform {
  rows: number
  /** The maximum number of rows of an answer that begins at this row. */
  lengthAt(skip: number): number
  total?: (rowsOfPage: number) => number
  ignoresSkip?: boolean
}

/** The client for a platform that lists the numbers from 0. */
function apiOf({ rows, lengthAt, total, ignoresSkip = false }: Platform): Api {
  const send = async ({ url }: { url: string }) => {
    const { searchParams } = new URL(url)
    const skip = ignoresSkip ? 0 : Number(searchParams.get('$skip'))
    const length = Math.min(Number(searchParams.get('$top')), lengthAt(skip), Math.max(0, rows - skip))
    const text = JSON.stringify(Array.from({ length }, (_, index) => ({ id: skip + index })))
    const headers = total ? { [platform.paging.totalHeader]: String(total(length)) } : {}
    const header = (name: string) => new Map(Object.entries(headers)).get(name)
    return { status: 200, text, headers, header, retryAfterMs: undefined }
  }
  return createApi({ platform, baseUrl: 'https://api.example', http: { send, close: async () => {} } })
}

/** The page at an address: its rows, and its links. */
async function pageAt(api: Api, address: string) {
  const choice = listQuery(FIELDS).parse(Object.fromEntries(new URLSearchParams(address)))
  const result = await api.list(SOURCE, CALL, platformPage(choice, FIELDS))
  return { rows: result.items.map(({ id }) => id), ...pager(result, choice) }
}

/** The pages from the first one to the last one, by their links. */
async function walk(api: Api, first = '') {
  const pages = [await pageAt(api, first)]
  for (let next = pages[0]?.next; next && pages.length < 1_000; ) {
    const page = await pageAt(api, next)
    pages.push(page)
    next = page.next
  }
  return pages
}

const upTo = (length: number) => Array.from({ length }, (_, id) => id)

test('a platform that gives 20 of the 25 rows asked for: each of its 120 leads is on one page', async () => {
  const pages = await walk(apiOf({ rows: 120, lengthAt: () => 20, total: () => 120 }))
  expect(pages.flatMap(({ rows }) => rows)).toEqual(upTo(120))
  expect(pages).toHaveLength(6)
})

test('whatever the lengths of pages are, with a total or without: Next leaves nothing out, and Previous is the page before', async () => {
  const platforms = fc.record({
    rows: fc.integer({ min: 0, max: 40 }),
    lengths: fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 7 }),
    total: fc.constantFrom('right', 'none', 'zero'),
  })
  await fc.assert(
    fc.asyncProperty(platforms, async ({ rows, lengths, total }) => {
      const api = apiOf({
        rows,
        lengthAt: (skip) => lengths[skip % lengths.length] ?? 1,
        ...(total !== 'none' && { total: () => (total === 'zero' ? 0 : rows) }),
      })
      const pages = await walk(api, '?top=8')
      expect(pages.flatMap((page) => page.rows)).toEqual(upTo(rows))
      for (let index = pages.length - 1; index > 0; index--) {
        const before = await pageAt(api, pages[index]?.previous ?? '')
        expect(before.rows).toEqual(pages[index - 1]?.rows)
      }
    }),
    { numRuns: 50 },
  )
})

test('a list of more than a hundred short pages is shown to its end', async () => {
  const pages = await walk(apiOf({ rows: 150, lengthAt: () => 1 }))
  expect(pages.flatMap(({ rows }) => rows)).toEqual(upTo(150))
  expect(pages.at(-1)?.previous).toContain('skip=149')
})

test('full pages have Previous without a trace of the way', async () => {
  const pages = await walk(apiOf({ rows: 120, lengthAt: () => 100, total: () => 120 }), '?top=50')
  expect(pages.map(({ previous }) => previous)).toEqual([null, '?top=50&skip=0', '?top=50&skip=50'])
})

test('a total that is less than the rows so far is none', async () => {
  for (const total of [() => 0, (rows: number) => rows]) {
    const pages = await walk(apiOf({ rows: 45, lengthAt: () => 20, total }), '?skip=1')
    expect(pages[0]?.total).toBe(null)
    expect(pages.flatMap(({ rows }) => rows)).toEqual(upTo(45).slice(1))
  }
})

test('a platform that sends the first page again and again: the list ends, and says so', async () => {
  for (const total of [undefined, () => 120]) {
    const api = apiOf({ rows: 120, lengthAt: () => 25, ignoresSkip: true, ...(total && { total }) })
    const pages = await walk(api)
    expect(pages.map(({ rows }) => rows.length)).toEqual([25, 0])
    expect(pages.map(({ repeated }) => repeated)).toEqual([false, true])
    expect((await pageAt(api, pages[1]?.previous ?? '')).rows).toHaveLength(25)
  }
})
