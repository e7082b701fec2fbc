/** Reads the documentation and the source, for tests that compare the two. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))
export const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
export const files = (pattern: string) => globSync(pattern, { cwd: ROOT }).sort()

/** The matches of a pattern in a text (of its group, if it has one), sorted and without duplicates. */
export const all = (text: string, pattern: RegExp) =>
  [...new Set([...text.matchAll(pattern)].map((match) => match[1] ?? match[0]))].sort()

/** The rows of the tables whose first heading is `heading`, as cells. */
export function rows(markdown: string, heading: string): string[][] {
  const found: string[][] = []
  let wanted = false
  const lines = markdown.split('\n')
  for (const [index, line] of lines.entries()) {
    if (!line.startsWith('|')) wanted = false
    else if (!lines[index - 1]?.startsWith('|')) wanted = cellsOf(line)[0] === heading
    else if (wanted && !line.startsWith('| ---')) found.push(cellsOf(line))
  }
  return found
}

const cellsOf = (line: string) =>
  line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim())

/** The code in a cell: `a`, `b`. */
export const codeIn = (cell = '') => all(cell, /`([^`]+)`/g)
