import type { Fault } from '../../../../src/features/supplier/catalogue-files/cells.ts'
import { COLUMNS } from '../../../../src/features/supplier/catalogue-files/items.ts'
import type { FileProblems, ProblemKind } from '../../../../src/features/supplier/catalogue-files/problems.ts'
import { readFile } from '../../../../src/features/supplier/catalogue-files/template.ts'
import { type Expectation, texts } from '../../../../src/features/supplier/catalogue-files/texts.ts'

/** The bytes of a text in an encoding, with the byte order mark of UTF-16. */
export function encode(text: string, encoding: 'utf-8' | 'utf-16le' | 'utf-16be'): Buffer {
  if (encoding === 'utf-8') return Buffer.from(text)
  const bytes = Buffer.from(`\ufeff${text}`, 'utf16le')
  return encoding === 'utf-16le' ? bytes : bytes.swap16()
}

/** Bytes as they arrive: in pieces of these sizes, and then the rest. */
export async function* arriving(
  bytes: Uint8Array,
  sizes: readonly number[] = [],
): AsyncGenerator<Uint8Array> {
  let at = 0
  for (const size of sizes) {
    yield bytes.subarray(at, at + size)
    at += size
  }
  yield bytes.subarray(at)
}

/** The items of a file. Throws its problems. */
export const read = (file: string | Uint8Array, sizes: readonly number[] = []) =>
  readFile(arriving(Buffer.from(file), sizes))

/** The values of the items of a right file in the order of the template, or the problems of a wrong file. */
export async function outcome(file: string | Uint8Array) {
  try {
    return (await read(file)).map((item) => COLUMNS.flatMap((column) => item[column] ?? []))
  } catch (error) {
    return Object(error).problems
  }
}

/** A problem of a file: the reason why all of it is refused, or a place with the expectation and the shown cell. */
export type Mistake = string | [line: number, column: string, expectation: Fault | Expectation, found: string]

/** The problems of a file with these mistakes. */
export function problemsOf(mistakes: readonly Mistake[]): FileProblems {
  const kinds = new Map<string, ProblemKind>()
  let refused: string | null = null
  for (const mistake of mistakes) {
    if (typeof mistake === 'string') {
      refused = mistake
      continue
    }
    const [line, column, of, found] = mistake
    const expectation = typeof of === 'string' ? texts.expectations[of] : of
    const key = column + expectation.expected
    const kind = kinds.get(key) ?? { column, ...expectation, count: 0, places: [] }
    kinds.set(key, { ...kind, count: kind.count + 1, places: [...kind.places, { line, found }] })
  }
  return { refused, kinds: [...kinds.values()] }
}
