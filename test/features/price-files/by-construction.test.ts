/** What has not been confirmed is not sent, whatever a file says: files built at random. */
import { readFileSync } from 'node:fs'
import { stringify } from 'csv-stringify/sync'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Cell, workbook } from '../../support/xlsx.ts'
import { layoutOf, read, readWith } from './read-support.ts'

const { headings: HEADINGS, notes: NOTES }: { headings: string[]; notes: string[] } = JSON.parse(
  readFileSync(new URL('vocabulary.json', import.meta.url), 'utf8'),
)

const heading = fc.oneof(fc.constantFrom(...HEADINGS), fc.stringMatching(/^[a-zA-Z #%]{1,12}$/))
const note = fc.oneof(fc.constantFrom(...NOTES), fc.stringMatching(/^[a-zA-Z][a-zA-Z ,.;%/]{2,30}$/))
const word = fc.stringMatching(/^[a-z]{1,8}$/)
const amount = fc.integer({ min: 1, max: 9_999_999 }).map((cents) => (cents / 100).toFixed(2))

/** Each reads several files. */
const RUNS = process.env.LONG_TESTS ? 500 : 25

/** A table of so many columns below titles and above footers, with notes between its items. */
const file = fc
  .uniqueArray(heading, { minLength: 2, maxLength: 8, selector: (text) => text.trim().toLowerCase() })
  .filter((headings) => headings.every((text) => text.trim() !== ''))
  .chain((headings) =>
    fc.record({
      headings: fc.constant(headings),
      titles: fc.array(note, { maxLength: 3 }),
      footers: fc.array(note, { maxLength: 3 }),
      between: note,
      code: fc.integer({ min: 0, max: headings.length - 1 }),
      offset: fc.integer({ min: 1, max: headings.length - 1 }),
      rows: fc.array(fc.tuple(amount, fc.array(word, { minLength: 8, maxLength: 8 })), {
        minLength: 2,
        maxLength: 12,
      }),
    }),
  )
  .map(({ headings, code, offset, rows, ...around }) => {
    const price = (code + offset) % headings.length
    const items = rows.map(([cents, words], row) =>
      headings.map((_, column) =>
        column === code ? `C${row}` : column === price ? cents : (words[column] ?? ''),
      ),
    )
    return { headings, code, price, items, ...around }
  })
type File = typeof file extends fc.Arbitrary<infer T> ? T : never

const half = (items: string[][]) => Math.ceil(items.length / 2)
const csvOf = ({ headings, titles, footers, between, items }: File) =>
  stringify(
    [
      ...titles.map((text) => [text]),
      headings,
      ...items.slice(0, half(items)),
      [between],
      ...items.slice(half(items)),
      ...footers.map((text) => [text]),
    ],
    { quoted_string: true },
  )
const answersOf = ({ headings, titles, code, price }: File) => ({
  headingsRow: titles.length + 1,
  uses: Object.fromEntries(
    headings.map((text, column) => [
      text.replace(/\s+/g, ' ').trim(),
      column === code ? ('code' as const) : column === price ? ('price' as const) : ('ignored' as const),
    ]),
  ),
})
/** A straightforward program. */
const itemsOf = ({ items, code, price }: File) =>
  items.map((row) => ({ code: row[code] ?? '', price: Number(row[price]) }))
const spaced = (text: string) => text.replace(/\s+/g, ' ').trim()

describe('of a file that is built at random', () => {
  test('no item is sent without a layout that somebody has confirmed', () =>
    fc.assert(
      fc.asyncProperty(file, file, async (one, other) => {
        const { items, layout } = await readWith(csvOf(one), [])
        expect({ items, layout }).toEqual({ items: [], layout: null })
        // A layout of another file fits only if headings and texts are the same.
        const confirmed = await layoutOf(csvOf(other), answersOf(other))
        const found = await readWith(csvOf(one), [confirmed])
        if (found.items.length > 0) expect(found.differences).toEqual([])
        else expect(found.layout === null || found.validRows === 0).toBe(true)
      }),
      { numRuns: RUNS },
    ))

  test('a person sees every column, and every cell outside the table', () =>
    fc.assert(
      fc.asyncProperty(
        file,
        fc.array(fc.tuple(note, note, fc.nat(7)), { maxLength: 3 }),
        async (one, notes) => {
          const { headings, code, price, titles, between, footers } = one
          // Notes of two cells, in any columns but those of the code and the price together: that is a row of the table.
          const pairs = notes.flatMap(([text, more, at]) => {
            const column = at % (headings.length - 1)
            const isItem = [code, price].every((place) => place === column || place === column + 1)
            return isItem
              ? []
              : [{ row: [...Array(column).fill(''), text, more], text: `${text.trim()} · ${more}` }]
          })
          const content =
            csvOf(one) +
            stringify(
              pairs.map(({ row }) => row),
              { quoted_string: true },
            )
          const { outline } = await read(content, answersOf(one))
          const [sheet] = outline.sheets
          expect(sheet?.columns.map((column) => column.heading)).toEqual(headings.map(spaced))
          for (const text of [...titles, between, ...footers, ...pairs.map((pair) => pair.text)])
            expect(sheet?.texts).toContain(spaced(text))
        },
      ),
      { numRuns: RUNS },
    ))

  test('a confirmed layout, applied to the next file of that layout, gives exactly its items', () =>
    fc.assert(
      fc.asyncProperty(file, fc.array(amount, { minLength: 12, maxLength: 12 }), async (one, amounts) => {
        const confirmed = await layoutOf(csvOf(one), answersOf(one))
        const next = {
          ...one,
          items: one.items.map((row, at) =>
            row.map((cell, column) => (column === one.price ? (amounts[at] ?? '') : cell)),
          ),
        }
        const { items, problems } = await readWith(csvOf(next), [confirmed])
        expect(problems).toEqual([])
        expect(items).toEqual(itemsOf(next))
      }),
      { numRuns: RUNS },
    ))

  test('no item is sent of a sheet that may be another one than the confirmed one', () => {
    const names = fc.uniqueArray(
      fc.constantFrom('June 2026', 'July 2026', 'August 2026', 'Tier 1', 'Tier 2', 'Taps', 'Info'),
      { minLength: 1, maxLength: 4 },
    )
    // Each sheet has one item, whose code is the name of the sheet.
    const bookOf = (sheets: string[]) =>
      workbook(sheets.map((name) => ({ name, rows: [['Code', 'Price'] as Cell[], [name, 1]] })))
    const kindOf = (name: string) => (name.includes('2026') ? 'month' : name.replace(/ \d/, ''))
    return fc.assert(
      fc.asyncProperty(names, names, async (before, now) => {
        const { items } = await readWith(bookOf(now), [await layoutOf(bookOf(before))])
        const [used = ''] = before
        const others = (list: string[]) => list.filter((name) => kindOf(name) === kindOf(used))
        const isOnly = others(before).length === 1 && others(now).length === 1
        const isSame = others(before).toSorted().join() === others(now).toSorted().join()
        for (const { code } of items) expect(isSame ? used : isOnly ? others(now)[0] : 'none').toBe(code)
      }),
      { numRuns: RUNS * 2 },
    )
  })

  test('a workbook shows the names of all its sheets, hidden ones too, and what the unused ones say', () =>
    fc.assert(
      fc.asyncProperty(
        file,
        fc.uniqueArray(note, { minLength: 1, maxLength: 3 }),
        fc.boolean(),
        async (one, notes, hidden) => {
          const rows: Cell[][] = [...one.titles.map((text): Cell[] => [text]), one.headings, ...one.items]
          const others = notes.map((text, at) => ({
            name: `Sheet ${at}`,
            hidden,
            rows: [[text]] as Cell[][],
          }))
          const bytes = workbook([{ name: 'List', rows }, ...others])
          const { outline } = await readWith(bytes, [])
          expect(outline.sheets.map(({ name }) => name)).toEqual(['List', ...others.map(({ name }) => name)])
          const said = outline.sheets.flatMap(({ texts }) => texts).map(spaced)
          for (const text of notes)
            expect(
              said.some((found) =>
                found.toLowerCase().includes(
                  spaced(text)
                    .toLowerCase()
                    .replace(/\s*\d.*$/, ''),
                ),
              ),
            ).toBe(true)
        },
      ),
      { numRuns: RUNS },
    ))
})
