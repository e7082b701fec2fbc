import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { confirmed } from '../../../src/features/price-files/confirmation.ts'
import { askForLayout, describeUnconfirmed } from '../../../src/features/price-files/terminal.ts'
import { checkFileIn } from './read-support.ts'

const DOWN = '\u001b[B'
const ENTER = '\r'
const FILE = 'Contractor list, July 2026\nCode,Name,Price,Group\nA,Nail,110,RETAIL\nB,Board,220,TRADE\n'

/** A terminal on which these keys are pressed, each when the program waits for one. */
function terminalWith(keys: string[]) {
  const [input, output] = [new PassThrough(), new PassThrough()]
  const printed: string[] = []
  output.on('data', (text) => {
    printed.push(String(text))
    if (/[◆▲]/.test(String(text))) setImmediate(() => input.write(keys.shift() ?? ''))
  })
  const print = (...lines: string[]) => void printed.push(...lines)
  return { terminal: { input, output, print }, printed: () => printed.join('\n') }
}

test('in the terminal, a person is shown the same and asked in the same order, and nothing is preselected', async () => {
  await checkFileIn(FILE, async (check, read) => {
    const { terminal, printed } = terminalWith([
      // Not these uses: the column "Group" is suggested as the category, the fifth use; "not for sale if" is the ninth one.
      'n',
      // The row of the headings stays.
      ENTER,
      ENTER,
      ENTER,
      ENTER,
      DOWN.repeat(4) + ENTER,
      // The decimal sign stays.
      ENTER,
      'y',
      // TRADE is the second of its cells, before "None of these".
      DOWN.repeat(2) + ENTER,
      // Enter alone answers nothing.
      ENTER,
      DOWN.repeat(2) + ENTER,
      DOWN + ENTER,
      DOWN + ENTER,
      'y',
    ])
    const last = await askForLayout(terminal, check, read)
    const { draft } = last
    expect(draft).toMatchObject({ tax: 10, currency: 'AUD', audience: 'everyone' })
    expect(last.preview.map(({ item }) => item)).toEqual([{ code: 'A', name: 'Nail', price: 100 }])
    const order = [
      'Contractor list',
      'Code (A · B)',
      'Row of the headings (0: none): 2. Decimal sign: Point',
      'before GST',
      'which currency',
      'Who may see',
      'Checked 2 rows: 1 ready, 0 with problems.',
      'A | Nail | 110 | RETAIL',
      'This is right',
    ]
    expect(order.map((words) => printed().indexOf(words))).toEqual(
      order.map((words) => printed().indexOf(words)).toSorted((a, b) => a - b),
    )
    const by = '2026-07-01T00:00:00.000Z'
    expect(confirmed(draft, last.outline, by).texts).toEqual(
      ['contractor list · july 2026'].map(() => expect.any(String)),
    )
  })
})

test('in the terminal, who says that the rows are wrong is asked every question again', () =>
  checkFileIn(FILE, async (check, read) => {
    const beforeGst = ['y', DOWN + ENTER, DOWN + ENTER, DOWN + ENTER]
    const with10 = ['y', DOWN.repeat(2) + ENTER, DOWN + ENTER, DOWN + ENTER]
    const { terminal } = terminalWith([...beforeGst, 'n', ...with10, 'y'])
    expect((await askForLayout(terminal, check, read)).draft.tax).toBe(10)
  }))

test('in the terminal, a column whose cells all say no is confirmed, and the prices are before GST', () =>
  checkFileIn('Code,Name,Price,GST included\nA,Nail,10,No\nB,Board,20,No\n', async (check, read) => {
    // "None of these" is the second choice, and "Before GST" the only one.
    const { terminal } = terminalWith(['y', DOWN.repeat(2) + ENTER, ...Array(3).fill(DOWN + ENTER), 'y'])
    expect((await askForLayout(terminal, check, read)).draft.tax).toBe(0)
  }))

test('in the terminal, leaving confirms nothing', () =>
  checkFileIn(FILE, async (check, read) => {
    const { terminal } = terminalWith(['\u0003'])
    await expect(askForLayout(terminal, check, read)).rejects.toThrow('Nothing was confirmed')
  }))

test('without a terminal, everything is printed that would have to be confirmed', () =>
  checkFileIn(FILE, async (check) => {
    const lines = describeUnconfirmed(check, 'prices.csv').join('\n')
    for (const words of [
      'Contractor list',
      'Group (RETAIL · TRADE): category',
      'Who may see',
      '--layout layout.json',
    ])
      expect(lines).toContain(words)
  }))
