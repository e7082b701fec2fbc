import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readBatches } from '../../../src/features/price-files/batches.ts'
import { type CheckedFile, checkPriceFile } from '../../../src/features/price-files/check-rows.ts'
import type { Item } from '../../../src/features/price-files/contract.ts'
import type { Choices } from '../../../src/features/price-files/questions.ts'
import { tempDir } from '../../support/env.ts'

/** What a file comes to: its items as they are sent, and its problems as `line: reason`. */
export async function read(content: string | Uint8Array, choices: Choices = {}) {
  const { dir, remove } = tempDir()
  try {
    const path = join(dir, 'prices.csv')
    writeFileSync(path, content)
    return await readFile(path, choices)
  } finally {
    remove()
  }
}

/** What a file on disk comes to. */
export async function readFile(path: string, choices: Choices = {}) {
  const itemsPath = `${path}.items`
  const checked = await checkPriceFile(path, { choices, itemsPath })
  return {
    ...checked.check,
    items: await itemsIn(itemsPath, checked),
    problems: checked.problems.map(asText),
  }
}

const asText = ({ line, reason }: CheckedFile['problems'][number]) => `${line}: ${reason}`

async function itemsIn(path: string, { check }: CheckedFile): Promise<Item[]> {
  const items: Item[] = []
  if (check.mappingErrors.length > 0) return items
  for await (const { body } of readBatches(path, { total: check.validRows }))
    items.push(...JSON.parse(Buffer.from(body).toString()).items)
  return items
}

/** Why a file cannot be read. */
export const failure = (content: string | Uint8Array) =>
  read(content).then(
    () => 'none',
    (error: Error) => error.message,
  )
