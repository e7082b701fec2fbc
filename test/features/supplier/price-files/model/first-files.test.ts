/** First files of suppliers, whose right items were written down first: suggestions are right or none, and all items arrive right. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type Answers, choose, itemsIn, read } from './support.ts'

/** The rows, what is suggested for each column (`-`: nothing), what a person answers beside that, and the items as `CODE=PRICE`. */
const FILES: { rows: string[]; suggested: string; answers: Answers; items: string }[] = JSON.parse(
  readFileSync(new URL('first-files.json', import.meta.url), 'utf8'),
)

test.each(FILES)('$rows', async ({ rows, suggested, answers, items }) => {
  const content = rows.join('\n')
  const { outline } = await read(content)
  expect(outline.columns.map(({ use }) => (use === 'ignored' ? '-' : use)).join(' ')).toBe(suggested)
  expect(itemsIn(await choose(content, answers))).toBe(items)
})
