import { readFileSync } from 'node:fs'
import { FIELDS, type Field } from '../../../../src/features/price-files/columns.ts'
import type { Item } from '../../../../src/features/price-files/contract.ts'
import type { Choices, Question } from '../../../../src/features/price-files/questions.ts'

/** A price file as suppliers have them, and what must come of it. */
export interface RealFile {
  /** The name of a file in `files`, or of the workbook that `content` creates. */
  file: string
  content?: () => Uint8Array
  /** What must be asked before anything is sent; nothing by default. */
  questions?: Question[]
  /** The answers. */
  choices?: Choices
  /** Exactly what must arrive, in the order of the file. */
  items: Item[]
  /** The lines that must be reported; none by default. */
  problems?: number[]
}

export const contentOf = ({ file, content }: RealFile): Uint8Array =>
  content?.() ?? readFileSync(new URL(`files/${file}`, import.meta.url))

/** Items in short: the names of their fields, and a row of values for each; null is a field that is absent. */
export function table(fields: string, ...rows: (string | number | null)[][]): Item[] {
  const names = fields.split(' ')
  if (names.some((name) => !FIELDS.includes(name as Field))) throw new Error(`unknown field in "${fields}"`)
  return rows.map((row) => {
    if (row.length !== names.length) throw new Error(`${row.join()} has not the fields ${fields}`)
    const values = names.flatMap((name, index) => (row[index] === null ? [] : [[name, row[index]]]))
    return Object.fromEntries(values) as Item
  })
}
