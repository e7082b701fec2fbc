/** What a file says beside its items, and what it is like, as it is remembered and compared. */
import { keptText } from './cells.ts'
import type { PlacedText } from './received.ts'

/** The most texts without a code that are compared, their characters, and those of the codes of rows that are not sent. */
const MAX_TEXTS = 2_000
const MAX_TEXT_CHARACTERS = 500_000
const MAX_CODE_CHARACTERS = 250_000

export const textKey = ({ where, text }: Pick<PlacedText, 'where' | 'text'>): string =>
  `${keptText(where)}\n${keptText(text)}`
/** Capitals do not tell codes apart. */
export const codeKey = (code: string): string => keptText(code).toLowerCase()

/** Collects the different texts of a file: those without a code, and by their codes those of rows that have one. */
export function createTexts() {
  const texts = new Map<string, PlacedText>()
  const codes = new Map<string, PlacedText & { code: string }>()
  let [characters, codeCharacters, uncompared] = [0, 0, 0]
  return {
    texts,
    codes,
    /** How many more there are. */
    uncompared: () => uncompared,
    add(where: string, text: string, row: number | null): void {
      const key = textKey({ where, text })
      if (text === '' || texts.has(key)) return
      characters += where.length + text.length
      if (texts.size < MAX_TEXTS && characters <= MAX_TEXT_CHARACTERS) texts.set(key, { where, text, row })
      else uncompared++
    },
    addRow(code: string, text: string, row: number): void {
      const key = codeKey(code)
      if (codes.has(key)) return
      codeCharacters += key.length
      if (codeCharacters <= MAX_CODE_CHARACTERS)
        codes.set(key, { where: '', text, row, code: keptText(code) })
      else uncompared++
    },
  }
}
export type Texts = ReturnType<typeof createTexts>
