import type { Problem } from '../../../src/features/price-files/items.ts'
import { checkPriceFile, openPriceFile } from '../../../src/features/price-files/price-file.ts'

/** A file's content in chunks of this size. */
export async function* chunks(content: string | Buffer, size = 65_536): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(content as string)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

/** What a file comes to: its items, and its problems as `line: reason`. */
export async function read(content: string | Buffer, size?: number) {
  const problems: Problem[] = []
  const check = await checkPriceFile(chunks(content, size), {
    onProblem: (problem) => problems.push(problem),
  })
  const file = await openPriceFile(chunks(content, size))
  const items = []
  for await (const portion of file.read(check.columns)) items.push(...portion.items)
  return { ...check, items, problems: problems.map(({ line, reason }) => `${line}: ${reason}`) }
}
/** Why a file cannot be read. */
export const failure = (content: string | Buffer) =>
  read(content).then(
    () => 'none',
    (error: Error) => error.message,
  )
