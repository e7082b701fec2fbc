/** Sixty files of suppliers, whose right items were written down first: with the right confirmations, all of them arrive right. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { openQuestions } from '../../../src/features/price-files/questions.ts'
import { type Cell, workbook } from '../../support/xlsx.ts'
import { type Answers, read } from './read-support.ts'

type Case = [name: string, content: string | Uint8Array, answers: Answers, items: string]

const xlsx = (...rows: Cell[][]) => workbook([{ name: 'Prices', rows }])
const usd = (value: number): Cell => ({ value, format: '"$"#,##0.00' })

/** The text files: their lines, what a person confirms beside the suggestions, and the items as `CODE=PRICE`. */
const FILES: { name: string; content: string[]; answers: Answers; items: string }[] = JSON.parse(
  readFileSync(new URL('sixty-files.json', import.meta.url), 'utf8'),
)

const CASES: Case[] = [
  ...FILES.map(({ name, content, answers, items }): Case => [name, content.join(''), answers, items]),
  // Workbooks.
  [
    'workbook',
    xlsx(['Code', 'Name', 'Price'], ['A', 'Nail', usd(1.5)], ['B', 'Board', usd(1250)]),
    {},
    'A=1.5 B=1250',
  ],
  [
    'workbook with a title',
    xlsx(['Trade prices'], [], ['Code', 'Name', 'List'], ['A', 'Nail', 10]),
    { audience: 'selected', uses: { List: 'price' } },
    'A=10',
  ],
  ['floats', xlsx(['Code', 'Price'], ['A', 926.640_000_000_000_1]), {}, 'A=926.64'],
  [
    'padded codes',
    xlsx(['Code', 'Name', 'Price'], [{ value: 45, format: '00000' }, 'Nail', 1]),
    {},
    '00045=1',
  ],
  [
    'a date as a price',
    xlsx(
      ['Code', 'Name', 'Price'],
      ['A', 'Nail', { value: 46_000, format: 'dd/mm/yyyy' }],
      ['B', 'Board', 2],
    ),
    {},
    'B=2',
  ],
  [
    'two sheets',
    workbook(
      ['Taps', 'Sinks'].map((name, at) => ({
        name,
        rows: [
          ['Code', 'Name', 'Price'],
          [`${name}-1`, 'x', at + 1],
        ],
      })),
    ),
    { sheets: ['Taps', 'Sinks'] },
    'Taps-1=1 Sinks-1=2',
  ],
  [
    'old sheet beside',
    workbook(
      ['2026', '2025'].map((name, at) => ({
        name,
        rows: [
          ['Code', 'Name', 'Price'],
          ['A', 'x', at + 1],
        ],
      })),
    ),
    { sheets: ['2026'] },
    'A=1',
  ],
]

test('there are sixty files', () => {
  expect(CASES.length).toBeGreaterThanOrEqual(60)
})

test.each(CASES)('%s', async (_name, content, answers, expected) => {
  const { items } = await read(content, answers)
  expect(items.map(({ code, price }) => `${code}=${price}`).join(' ')).toBe(expected)
})

test('of two columns that look like prices none is suggested, and a person is asked for one', async () => {
  const { draft, outline } = await read('Code,Name,RRP,Trade Price\nA,Nail,12.10,9.90\n')
  const uses = draft.sheets.flatMap(({ columns }) => columns.map(({ use }) => use))
  expect(uses).toEqual(['code', 'name', 'ignored', 'ignored'])
  const [question] = openQuestions(draft, outline.sheets)
  expect(question?.text).toBe('Which column is the price?')
  expect(question?.choices.map(([, label]) => label)).toEqual(['RRP: 12.10', 'Trade Price: 9.90'])
})

test('at most one suggestion of five is changed by hand', async () => {
  let [columns, changed] = [0, 0]
  for (const [, content, answers] of CASES) {
    const suggested = await read(content)
    columns += suggested.draft.sheets.flatMap((sheet) => sheet.columns).length
    changed += Object.keys(answers.uses ?? {}).length
  }
  expect(changed / columns).toBeLessThanOrEqual(0.2)
})
