import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { openClone } from './clones.ts'

/** Code that puts each text of a file of texts between other characters. */
const REWORDED = `
function reworded(text: unknown): unknown {
  if (typeof text === 'string') return \`«\${text}»\`
  if (typeof text === 'function') return (...args: unknown[]) => reworded(text(...args))
  if (Array.isArray(text)) return text.map(reworded)
  if (typeof text !== 'object' || text === null) return text
  return Object.fromEntries(
    Object.entries(text).map(([code, one]) => [code, code === 'language' ? one : reworded(one)]),
  )
}
Object.assign(texts, reworded(texts))
`

/** Gives a product words of its own: replaces the texts of these files. */
export function reword(product: ReturnType<typeof openClone>, pattern: string): void {
  for (const file of product.git('ls-files', pattern).split('\n'))
    writeFileSync(join(product.dir, file), product.read(file) + REWORDED)
}
