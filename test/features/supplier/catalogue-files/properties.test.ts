import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type Column,
  type Item,
  keyOf,
  OPTIONAL,
} from '../../../../src/features/supplier/catalogue-files/items.ts'
import { encode, read } from './support.ts'

/** Texts of a valid file: without invisible characters, surrounding blanks, or the error values of a spreadsheet. */
const text = fc
  .string({
    unit: fc.oneof(fc.constantFrom(...' ",;\t\'$#=.-½木🪵ß'), fc.string({ minLength: 1, maxLength: 1 })),
    maxLength: 12,
  })
  .map((value) =>
    value
      .replaceAll(/[\p{Cc}\p{Cf}]/gu, '')
      .replace(/^[=#\s]+/, '')
      .trim(),
  )
  .filter((value) => !/^[-+]?\d.*E[-+]\d|^Err:/i.test(value))
const code = text.filter((value) => value !== '')
const price = fc
  .tuple(fc.nat(999_999_999), fc.constantFrom('', '.0', '.5', '.05', '.1234'))
  .map(([dollars, cents]) => `${dollars}${cents}`)

const line = fc.record({ code, price, name: text, description: text, unit: text, category: text })
type Line = Record<Column, string>
const lines = fc.uniqueArray(line, { selector: ({ code }) => keyOf(code), minLength: 1, maxLength: 8 })

const form = fc.record({
  columns: fc.tuple(fc.subarray([...OPTIONAL]), fc.infiniteStream(fc.nat())).map(([chosen, ranks]) => {
    const ranked = ['code' as const, 'price' as const, ...chosen].map((name) => ({
      name,
      rank: ranks.next().value ?? 0,
    }))
    return ranked.sort((a, b) => a.rank - b.rank).map(({ name }) => name)
  }),
  separator: fc.constantFrom(',', ';', '\t'),
  lineEnd: fc.constantFrom('\n', '\r\n', '\r'),
  encoding: fc.constantFrom('utf-8', 'utf-16le', 'utf-16be'),
  quotesAll: fc.boolean(),
  capitals: fc.boolean(),
  /** Blanks around each cell. */
  blanks: fc.constantFrom('', ' ', '\u00a0'),
  blankLines: fc.boolean(),
  endsWithLine: fc.boolean(),
  /** Where the first chunk of bytes ends, as a fraction of the file's length. */
  pieceEnd: fc.nat(999).map((thousandths) => thousandths / 1000),
  sizes: fc.array(fc.nat(40), { maxLength: 50 }),
})
type Form = typeof form extends fc.Arbitrary<infer Value> ? Value : never

/** The reader decodes this many bytes at once. */
const PIECE = 16_384

/** Writes a file. The line numbers of its items begin with `first`, one after another. */
function write(rows: readonly Line[], form: Form): { bytes: Buffer; first: number } {
  const { separator, blanks, quotesAll } = form
  const cell = (value: string) =>
    `${blanks}${quotesAll || value.startsWith('"') || value.includes(separator) ? `"${value.replaceAll('"', '""')}"` : value}${blanks}`
  const names = form.columns.map((name) => cell(form.capitals ? name.toUpperCase() : name)).join(separator)
  const items = rows.map((row) => form.columns.map((name) => cell(row[name])).join(separator))
  const table = [...(form.blankLines ? ['', separator] : []), names, ...items].join(form.lineEnd)
  const text = `${table}${form.endsWithLine ? form.lineEnd : ''}`
  const unit = form.encoding === 'utf-8' ? 1 : 2
  const blank = ' '.repeat(Math.max(0, PIECE - Math.round(form.pieceEnd * Buffer.byteLength(text))) / unit)
  return { bytes: encode(`${blank}${form.lineEnd}${text}`, form.encoding), first: form.blankLines ? 5 : 3 }
}

function itemOf(row: Line, columns: readonly Column[]): Item {
  const texts = OPTIONAL.filter((name) => columns.includes(name) && row[name] !== '')
  return {
    code: row.code,
    price: Number(row.price),
    ...Object.fromEntries(texts.map((name) => [name, row[name]])),
  }
}

test('every item of a right file is read as it is written, whatever the form of the file and the pieces in which it arrives', async () => {
  await fc.assert(
    fc.asyncProperty(lines, form, async (rows, form) => {
      const { bytes } = write(rows, form)
      expect(await read(bytes, form.sizes)).toEqual(rows.map((row) => itemOf(row, form.columns)))
    }),
    { numRuns: 500 },
  )
})

const MISTAKES: { column: Column; cell: string }[] = [
  ...['', '=1', '#N/A', '9.31E+12', 'A\ufffd', 'A\u0007', 'A\u200b', 'x'.repeat(101)].map((cell) => ({
    column: 'code' as const,
    cell,
  })),
  ...[
    '',
    '$1',
    '1,5',
    '1,234.50',
    '-1',
    '1E2',
    '1.23456',
    '1234567890',
    'POA',
    '1%',
    '.5',
    '1.',
    '#REF!',
    '١',
  ].map((cell) => ({ column: 'price' as const, cell })),
  ...OPTIONAL.flatMap((column) =>
    ['=A1', '#NAME?', '1.2E+3', 'a\ufffd', 'a\tb'].map((cell) => ({ column, cell })),
  ),
]

test('a file with one mistake yields no items, but the line and column of the mistake', async () => {
  const place = fc.nat(7)
  await fc.assert(
    fc.asyncProperty(
      lines,
      form,
      place,
      fc.constantFrom(...MISTAKES),
      async (rows, form, place, { column, cell }) => {
        const wrong = place % rows.length
        const columns = form.columns.includes(column) ? form.columns : [...form.columns, column]
        const broken = rows.map((row, at) => (at === wrong ? { ...row, [column]: cell } : row))
        const { bytes, first } = write(broken, { ...form, columns, quotesAll: true })
        const problems = { refused: null, kinds: [{ column, places: [{ line: first + wrong }] }] }
        await expect(read(bytes, form.sizes)).rejects.toMatchObject({ problems })
      },
    ),
    { numRuns: 500 },
  )
})
