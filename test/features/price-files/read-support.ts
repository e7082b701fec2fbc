import { itemsOfBatches } from '../../../src/features/price-files/batches.ts'
import { type Check, checkPriceFile } from '../../../src/features/price-files/check-rows.ts'
import { confirmed } from '../../../src/features/price-files/confirmation.ts'
import type { Item } from '../../../src/features/price-files/contract.ts'
import type { Column, Draft, Layout, Statements } from '../../../src/features/price-files/layout.ts'
import { isComplete } from '../../../src/features/price-files/questions.ts'
import type { Problem } from '../../../src/features/price-files/rows.ts'
import { tempDir } from '../../support/env.ts'

/** What a use has beside its heading: `{ use: 'not for sale if', yes: ['TRADE'] }`. */
export type Use = Column['use'] | { use: Column['use']; yes?: readonly string[]; divide?: boolean }

/** What a person says of a file beside what is suggested. By default, its prices are before tax, in AUD and for everyone. */
export interface Answers extends Partial<Statements> {
  /** The uses of columns by their headings, or by their numbers if they have none. */
  uses?: Record<string, Use>
  /** The names of the sheets that are used. */
  sheets?: string[]
  headingsRow?: number
  decimal?: 'point' | 'comma'
}

/** The draft for a checked file with these answers. */
export function draftOf({ draft, outline }: Pick<Check, 'draft' | 'outline'>, answers: Answers = {}): Draft {
  const {
    uses = {},
    sheets,
    headingsRow,
    decimal,
    tax = 0,
    currency = 'AUD',
    audience = 'everyone',
  } = answers
  const used = sheets ? outline.sheets.filter(({ name }) => sheets.includes(name)) : draft.sheets
  const layouts = used.map(
    (one) =>
      draft.sheets.find(({ name }) => name === one.name) ?? {
        name: one.name,
        headingsRow: one.headingsRow,
        decimal: 'point' as const,
        columns: [],
      },
  )
  return {
    sheets: layouts.map((sheet) => {
      const own = outline.sheets.find(({ name }) => name === sheet.name)
      const columns = sheet.columns.map((column, index): Column => {
        const answer = uses[column.heading] ?? uses[index + 1]
        const values = own?.columns[index]?.values ?? []
        return columnOf(column, answer ?? column.use, values)
      })
      return {
        ...sheet,
        columns,
        headingsRow: headingsRow ?? sheet.headingsRow,
        decimal: decimal ?? sheet.decimal,
      }
    }),
    tax,
    currency,
    audience,
  }
}

function columnOf(before: Column, answer: Use, values: readonly string[]): Column {
  const { heading } = before
  const { use, yes = [], divide = false } = typeof answer === 'string' ? { use: answer } : answer
  if (use === 'price is for this many') return { heading, use, divide }
  if (use === before.use && yes.length === 0) return before
  if (use !== 'tax included' && use !== 'not for sale if') return { heading, use }
  return { heading, use, yes: [...yes], no: values.filter((value) => !yes.includes(value)) }
}

export interface Read extends Omit<Check, 'problems'> {
  /** The items as they are sent. */
  items: Item[]
  /** The problems as `line: reason`. */
  problems: string[]
}

/** What a file comes to when a person has confirmed it with these answers. */
export async function read(content: string | Uint8Array, answers: Answers = {}): Promise<Read> {
  return withFile(content, async (path) => {
    const check = await checkPriceFile(path)
    // On another row of headings, the columns are suggested anew.
    const moved =
      answers.headingsRow === undefined
        ? check
        : await readAs(path, draftOf(check, { headingsRow: answers.headingsRow }))
    return readAs(path, draftOf(moved, answers))
  })
}

async function readAs(path: string, draft: Draft): Promise<Read> {
  const itemsPath = `${path}.items`
  const check = await checkPriceFile(path, { draft, itemsPath })
  return { ...check, items: await itemsIn(itemsPath), problems: check.problems.map(asText) }
}

/** What a file comes to with confirmed layouts alone: without one that fits, nothing of it is sent. */
export const readWith = (content: string | Uint8Array, layouts: Layout[]): Promise<Read> =>
  withFile(content, async (path) => {
    const itemsPath = `${path}.items`
    const check = await checkPriceFile(path, { layouts, itemsPath })
    const items = check.layout ? await itemsIn(itemsPath) : []
    return { ...check, items, problems: check.problems.map(asText) }
  })

/** Gives the check of a file to `work`, and a function that reads it again as a draft says. */
export const checkFileIn = (
  content: string | Uint8Array,
  work: (check: Check, read: (draft: Draft) => Promise<Check>) => Promise<void>,
): Promise<void> =>
  withFile(content, async (path) => {
    await work(await checkPriceFile(path), (draft) => checkPriceFile(path, { draft }))
  })

/** The layout of a file that a person has confirmed with these answers. */
export async function layoutOf(content: string | Uint8Array, answers: Answers = {}): Promise<Layout> {
  const { draft, outline, problem } = await read(content, answers)
  if (!isComplete(draft) || problem) throw new Error(`the layout is not complete: ${problem}`)
  return confirmed(draft, outline, '2026-07-01T00:00:00.000Z')
}

async function withFile<T>(content: string | Uint8Array, work: (path: string) => Promise<T>): Promise<T> {
  const { write, remove } = tempDir()
  try {
    return await work(write(content))
  } finally {
    remove()
  }
}

const asText = ({ line, reason }: Problem) => `${line}: ${reason}`

const itemsIn = (path: string): Promise<Item[]> => Array.fromAsync(itemsOfBatches(path))

/** Why a file cannot be read. */
export const failure = (content: string | Uint8Array) =>
  read(content).then(
    () => 'none',
    (error: Error) => error.message,
  )
