/** Price files as suppliers send them, and what a careful clerk would make of each. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { checkPriceFile } from '../../../../src/features/price-files/check-rows.ts'
import type { Columns, Field } from '../../../../src/features/price-files/columns.ts'
import type { Item } from '../../../../src/features/price-files/item.ts'
import type { Choices } from '../../../../src/features/price-files/questions.ts'
import { UnreadableFileError } from '../../../../src/tables/errors.ts'
import { tempDir } from '../../../support/env.ts'
import { cases, type Outcome, type PriceFileCase } from './cases.ts'
import { fileNameOf, writeCaseFile } from './write-file.ts'

const { dir, remove } = tempDir()
afterAll(remove)

/** What came of a file, in the terms of the cases. */
interface Result {
  refused?: string
  asked: string[]
  items: Item[]
  problems: number[]
}

async function check(path: string, options: readonly string[]): Promise<Result> {
  const itemsPath = `${path}.ndjson`
  try {
    const choices = await choicesOf(path, options)
    const checked = await checkPriceFile(path, { itemsPath, choices })
    const text = existsSync(itemsPath) ? readFileSync(itemsPath, 'utf8').trim() : ''
    return {
      asked: checked.check.questions,
      items: text === '' ? [] : text.split('\n').flatMap((line) => JSON.parse(line).items as Item[]),
      problems: checked.problems.map(({ line }) => line),
    }
  } catch (error) {
    if (!(error instanceof UnreadableFileError)) throw error
    return { refused: error.message, asked: [], items: [], problems: [] }
  }
}

/** The options of the command as choices. */
async function choicesOf(path: string, options: readonly string[]): Promise<Choices> {
  const choices: Choices = {}
  const mapped: [Field, string][] = []
  for (const [index, option] of options.entries()) {
    const value = options[index + 1] ?? ''
    if (option === '--no-headings') choices.headingsLine = 0
    if (option === '--headings-row') choices.headingsLine = Number(value)
    if (option === '--gst') choices.gst = Number(value)
    if (option === '--decimal') choices.decimal = value as 'point' | 'comma'
    if (option === '--sheet') choices.sheet = value
    if (option === '--map') mapped.push(value.split(/=(.*)/s) as [Field, string])
  }
  if (mapped.length === 0) return choices
  const recognised = (await checkPriceFile(path, { choices })).check
  const columns: Columns = { ...recognised.columns }
  for (const [field, name] of mapped) {
    const column = /^\d+$/.test(name) ? Number(name) - 1 : recognised.headings.indexOf(name)
    for (const other of Object.keys(columns) as Field[]) if (columns[other] === column) delete columns[other]
    columns[field] = column
  }
  return { ...choices, columns }
}

const QUESTIONS = {
  column: ['columns'],
  gst: ['gst'],
  decimal: ['decimal'],
  headings: ['headings', 'columns'],
  any: ['columns', 'gst', 'decimal', 'headings'],
}

/** Whether a result is this outcome: no item that is not expected, and none missing. */
function isOutcome(outcome: Outcome, { refused, asked, items, problems }: Result): boolean {
  if ('refused' in outcome) return refused !== undefined && outcome.refused.test(refused)
  if ('asks' in outcome) {
    const isRefused =
      outcome.asks === 'any' && (refused !== undefined || (asked.length === 0 && items.length === 0))
    return isRefused || QUESTIONS[outcome.asks].some((question) => asked.includes(question))
  }
  const known = [...(outcome.problems ?? []), ...(outcome.noItems ?? [])]
  return (
    refused === undefined &&
    (asked.length === 0 || outcome.items.length === 0) &&
    items.length === outcome.items.length &&
    outcome.items.every((want) => items.some((item) => isItem(want, item))) &&
    (outcome.items.length === 0 || (outcome.problems ?? []).every((line) => problems.includes(line))) &&
    (outcome.items.length === 0 || problems.every((line) => known.includes(line)))
  )
}

const isItem = (want: { code: string; price: string; unit?: string; name?: string }, item: Item) =>
  item.code === want.code &&
  item.price === Number(want.price) &&
  (want.unit === undefined || item.unit === want.unit) &&
  (want.name === undefined || item.name === want.name)

const kinds = [...new Set(cases.map(({ kind }) => kind))]

describe.each(kinds)('price files: %s', (kind) => {
  test.each(cases.filter((one) => one.kind === kind))(
    '$name',
    async ({ name, file, options = [], expect: wanted }: PriceFileCase) => {
      const path = join(dir, `${cases.findIndex((one) => one.name === name)}-${fileNameOf(file)}`)
      writeCaseFile(path, file)
      const result = await check(path, options)
      const outcomes = 'anyOf' in wanted ? wanted.anyOf : [wanted]
      expect(
        outcomes.some((outcome) => isOutcome(outcome, result)),
        JSON.stringify({ wanted, result }, null, 1),
      ).toBe(true)
    },
  )
})
