import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { openClone } from './clones.ts'

/**
 * Writes each text in Cyrillic letters, as a translation does, so that no test finds a word of ours. The values in a text stay as they
 * are, and so does what the browser replaces, such as `{time}`.
 */
function reworded(text: unknown, values: readonly string[] = []): unknown {
  if (typeof text === 'string') {
    const kept = [...values.map((value) => RegExp.escape(value)), '\\{\\w+\\}'].join('|')
    return text.replace(
      new RegExp(`(${kept})|[a-z]`, 'gi'),
      (letter, value?: string) => value ?? String.fromCharCode(letter.charCodeAt(0) + 0x3cf),
    )
  }
  if (typeof text === 'function') return (...args: unknown[]) => reworded(text(...args), stringsIn(args))
  if (Array.isArray(text)) return text.map((one) => reworded(one, values))
  if (typeof text !== 'object' || text === null) return text
  return Object.fromEntries(
    Object.entries(text).map(([code, one]) => [code, code === 'language' ? one : reworded(one, values)]),
  )
}

/** All strings in a value, the longest first. */
function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return value === '' ? [] : [value]
  const members = Object.values(Object(value))
  return members.flatMap(stringsIn).sort((a, b) => b.length - a.length)
}

/** Gives a product words of its own: replaces the texts of these files. */
export function reword(product: ReturnType<typeof openClone>, pattern: string): void {
  const code = ['', reworded, stringsIn, 'Object.assign(texts, reworded(texts))', ''].join('\n')
  for (const file of product.git('ls-files', pattern).split('\n'))
    writeFileSync(join(product.dir, file), product.read(file) + code)
}
