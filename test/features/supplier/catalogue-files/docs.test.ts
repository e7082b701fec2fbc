import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { compare } from '../../../../src/features/supplier/catalogue-files/difference.ts'
import { BOUNDS, COLUMNS, keyOf } from '../../../../src/features/supplier/catalogue-files/items.ts'
import { texts } from '../../../../src/features/supplier/catalogue-files/texts.ts'
import { tempDir } from '../../../support/env.ts'
import { outcome, problemsOf, read } from './support.ts'

const ROOT = new URL('../../../../', import.meta.url)
const PAGE = readFileSync(new URL('docs/supplier/catalogue-files.md', ROOT), 'utf8')
const sample = (name: string) =>
  readFileSync(new URL(`views/public/supplier/catalogue-files/${name}.csv`, ROOT))
const block = (language: string) => new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(PAGE)?.[1] ?? ''

let dir: ReturnType<typeof tempDir>
beforeEach(() => {
  dir = tempDir()
})
afterEach(() => dir.remove())

test('the page lists the columns of the template and the bounds of a file, and its example is right', async () => {
  const [, table = ''] = PAGE.split('| Column | Content |\n| --- | --- |\n')
  const names = [...(table.split('\n\n')[0] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name)
  expect(names).toEqual([...COLUMNS])
  const { bytes, items, lines, lineLength, cells } = BOUNDS
  for (const bound of [
    `${bytes / 1e6} MB`,
    ...[items, lines, lineLength, cells].map((one) => one.toLocaleString('en')),
  ])
    expect(PAGE).toContain(bound)
  expect(await outcome(block('csv'))).toEqual([
    ['SB-NL0075', 64.5, 'Nails 75 mm, 5 kg', 'box'],
    ['SB-BT1012', 3.48, 'Bolt M10 x 120', 'each'],
  ])
})

const python = spawnSync('python3', ['--version']).status === 0 ? [['python', 'python3', 'map.py']] : []

test.each([['js', process.execPath, 'map.mjs'], ...python])(
  'the script of the page that maps another file writes the template: %s',
  async (language, program, name) => {
    dir.write(
      'No\tText\tUnit\tRRP\r\n00123\t2" nail, bright\tbox\t$1364.55\r\nB1\tBolt\teach\t11\r\n',
      'export.tsv',
    )
    const script = dir.write(block(language), name)
    const { status, stderr } = spawnSync(program, [script], { cwd: dir.dir, encoding: 'utf8' })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(await outcome(readFileSync(join(dir.dir, 'prices.csv')))).toEqual([
      ['00123', 1240.5, '2" nail, bright', 'box'],
      ['B1', 10, 'Bolt', 'each'],
    ])
  },
)

test('the sample of the next month has a rise, a new item and one that is gone, and needs no tick', async () => {
  const before = await read(sample('this-month'))
  const received = new Map(before.map((item) => [keyOf(item.code), item]))
  const { counts, asks } = await compare(await read(sample('next-month')), received)
  expect({ counts, asks }).toEqual({
    counts: { added: 1, higher: 4, lower: 1, otherTexts: 1, same: 15, gone: 1 },
    asks: [],
  })
})

test('the sample with mistakes has five, each of another kind', async () => {
  const mistakes = problemsOf([
    [3, 'price', 'currency', '$14.20'],
    [5, 'price', 'thousands', '1,038.60'],
    [9, 'price', 'noNumber', 'POA'],
    [12, 'code', 'shortened', '9.31E+12'],
    [15, 'code', 'doubledCode', texts.also('SB-BT1012', texts.line(14))],
  ])
  expect(await outcome(sample('with-mistakes'))).toEqual(mistakes)
})

test('the template has the names of all columns and no items', async () => {
  expect(sample('template').toString()).toBe(`${COLUMNS.join(',')}\n`)
  expect(await outcome(sample('template'))).toEqual(problemsOf([texts.refused.noItems]))
})
