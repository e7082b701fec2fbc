/**
 * Marks every text that users read, so that a test finds sentences that are not in a file of texts. Import this file before the
 * app, because it changes the modules of the process. `test/features/texts.serial.long.test.ts` runs the walks of all features.
 */
import { globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { unmarkedWords } from './unmarked-words.ts'
import type { Answer, Visitor } from './visitor.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** A text; its arguments are data. */
const marked = (...args: unknown[]) => ['', ...args.flat().map(String), ''].join('⟦⟧')

function mark(texts: Record<string, unknown>): void {
  for (const [code, text] of Object.entries(texts)) {
    if (code === 'language') continue
    if (typeof text === 'string') texts[code] = '⟦⟧'
    else if (typeof text === 'function') texts[code] = marked
    else if (typeof text === 'object' && text !== null) mark(text as Record<string, unknown>)
  }
}

for (const file of globSync('src/{web,features/*,features/*/*}/{texts,*-texts}.ts', { cwd: ROOT })) {
  const { texts } = await import(`${ROOT}${file}`)
  // The texts of pages for developers have other names.
  if (texts) mark(texts)
}

/** Members of JSON that are texts. */
const TEXTS = ['title', 'detail', 'summary', 'failure', 'waiting']

/** The strings of JSON that are data. */
export const stringsIn = (value: unknown): string[] =>
  typeof value === 'string'
    ? [value]
    : Object.entries(Object(value)).flatMap(([name, member]) =>
        TEXTS.includes(name) ? [] : stringsIn(member),
      )

/** From now on, this visitor gets no links to the pages for developers, because their sentences are not in the files of texts. */
export async function hideDeveloperPages({ url }: { url: string }, visitor: Visitor): Promise<Visitor> {
  await visitor.post(`${url}/customer-view`, { form: { on: 'true' } })
  return visitor
}

/**
 * Expects that every sentence of this page comes from a file of texts. `data`: strings on the page that are not in its JSON, such
 * as names.
 */
export function expectMarked(answer: Answer, data: readonly string[] = []): void {
  expect(answer.headers.get('content-type'), answer.url).toMatch(/^text\/html/)
  expect(answer.text).toContain('⟦')
  expect(unmarkedWords(answer.text, data), answer.url).toEqual([])
}

/** `expectMarked` of an address, with the strings of its JSON as data. */
export async function expectMarkedPage(
  visitor: Visitor,
  url: string,
  data: readonly string[] = [],
): Promise<void> {
  const json = await visitor.get(url, { accept: 'application/json' })
  expectMarked(await visitor.get(url), [...stringsIn(json.json()), ...data])
}
