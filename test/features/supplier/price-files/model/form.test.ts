/** Page one as a form, and the choice as an argument of the command. */
import { expect, test } from 'vitest'
import { choiceSchema, type Draft } from '../../../../../src/features/supplier/price-files/choice.ts'
import { filledIn, readDraft } from '../../../../../src/features/supplier/price-files/form.ts'
import { choiceArgument } from '../../../../../src/features/supplier/price-files/sentences.ts'
import { choose, foundIn, read } from './support.ts'

const FILE = 'Code,Trade,RRP,Status\nA,1,2,\nB,1,2,Old\n'
/** What page one says when it is shown and sent once for each of these forms, one after the other. */
async function drafts(...forms: Record<string, string | string[]>[]): Promise<Draft[]> {
  const said: Draft[] = []
  for (const form of forms) {
    const { outline } = await read(FILE, said.length > 0 ? { draft: said.at(-1) as Draft } : {})
    said.push(readDraft(outline, filledIn(outline, { headingsRow: '1', units: '1', ...form })))
  }
  return said
}

test('a form says which columns are used, and which of their values are ticked', async () => {
  const form = { 'use-2': 'price', 'use-4': 'only', 'tick-4': ['1'], money: 'NZD before GST', moneyOf: '2' }
  const [draft] = await drafts(form)
  expect(draft?.columns).toEqual([
    { heading: 'Code', number: 1, use: 'code' },
    { heading: 'Trade', number: 2, use: 'price' },
    { heading: 'Status', number: 4, use: 'only', values: [''] },
  ])
  expect(draft?.money).toBe('NZD before GST')
})

test('an answer about the money of another column, or of none, counts for nothing', async () => {
  const money = 'NZD before GST'
  const answers = await drafts(
    { 'use-2': 'price', money, moneyOf: '' },
    { 'use-2': 'ignored', 'use-3': 'price', money, moneyOf: '2' },
    { 'use-2': 'ignored', 'use-3': 'price', money, moneyOf: '3' },
  )
  expect(answers.map((draft) => draft.money)).toEqual([null, null, money])
})

test('the columns of another sheet or row are suggested anew', async () => {
  const [draft] = await drafts({ 'use-2': 'price', headingsRow: '2', units: '10' })
  expect(draft).toMatchObject({ columns: [], headingsRow: 2, units: 10 })
})

test.each([
  [{ units: 'ten' }, 'units'],
  [{ headingsRow: '-1' }, 'headingsRow'],
  [{ money: 'EUR' }, 'money'],
  [{ 'use-3': 'x' }, 'use-3'],
  [{ 'use-1': 'code', 'use-2': 'code' }, 'use-2'],
])('a form with %j is refused, with the field', async (form: Record<string, string>, field) => {
  await expect(drafts(form)).rejects.toMatchObject({ field })
})

test('the argument of the command is the choice, whatever its headings are', async () => {
  const reading = await choose("Item's code,RRP 'ex'\nA,1\n", {
    uses: { "Item's code": 'code', "RRP 'ex'": 'price' },
  })
  const { choice } = foundIn(reading)
  const [, argument = ''] = /^--choice '(.*)'$/.exec(choiceArgument(choice)) ?? []
  expect(choiceSchema.parse(JSON.parse(argument.replaceAll("'\\''", "'")))).toEqual(choice)
})
