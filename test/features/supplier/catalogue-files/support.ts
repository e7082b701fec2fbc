import type { Fault } from '../../../../src/features/supplier/catalogue-files/cells.ts'
import { COLUMNS } from '../../../../src/features/supplier/catalogue-files/items.ts'
import type { FileProblems } from '../../../../src/features/supplier/catalogue-files/problems.ts'
import { readTemplate } from '../../../../src/features/supplier/catalogue-files/template.ts'
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

export const read = (file: string | Uint8Array, sizes: readonly number[] = []) =>
  readTemplate(arriving(Buffer.from(file), sizes))

/** The values of the items of a right file in the order of the template, or the problems of a wrong file. */
export async function outcome(file: string | Uint8Array) {
  const result = await read(file)
  if (!result.ok) return result.problems
  return result.items.map((item) => COLUMNS.flatMap((column) => item[column] ?? []))
}

/** A problem of a file: the reason why all of it is refused, or a place with the expectation and the shown cell. */
export type Mistake = string | [line: number, column: string, expectation: Fault | Expectation, found: string]

/** The problems of a file with these mistakes. */
export function problemsOf(mistakes: readonly Mistake[]): FileProblems {
  const problems = mistakes.map((mistake) => {
    if (typeof mistake === 'string') return { line: null, column: '', found: '', expected: mistake, cure: '' }
    const [line, column, of, found] = mistake
    return { line, column, found, ...(typeof of === 'string' ? texts.expectations[of] : of) }
  })
  const refusedLast = problems.toSorted((a, b) => Number(a.line === null) - Number(b.line === null))
  const kinds = Object.groupBy(refusedLast, ({ column, expected, cure }) =>
    [column, expected, cure].join('\n'),
  )
  return {
    listed: problems.map(({ cure: _, ...problem }) => problem),
    kinds: Object.values(kinds).flatMap((kind = []) =>
      kind.slice(0, 1).map(({ column, expected, cure }) => ({ column, expected, cure, count: kind.length })),
    ),
  }
}
