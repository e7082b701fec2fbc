import { COLUMNS } from '../../../../src/features/supplier/catalogue-files/items.ts'
import { readTemplate } from '../../../../src/features/supplier/catalogue-files/template.ts'
import { texts } from '../../../../src/features/supplier/catalogue-files/texts.ts'

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

/**
 * The items of a file, each as its values in the order of the template, or its problems as a person reads them, the first one of each
 * kind with its count and how to set it right.
 */
export async function outcome(file: string | Uint8Array) {
  const result = await read(file)
  if (result.ok) return result.items.map((item) => COLUMNS.flatMap((column) => item[column] ?? []))
  const { listed, kinds } = result.problems
  const rest = new Set(kinds)
  return listed.map((problem) => {
    const kind = [...rest].find(
      ({ column, expected }) => column === problem.column && expected === problem.expected,
    )
    if (!kind?.cure) return texts.problem(problem)
    rest.delete(kind)
    return `${texts.problem(problem)} ${kind.count}x: ${kind.cure}`
  })
}
