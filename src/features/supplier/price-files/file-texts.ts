/** The texts of a file that are not items. */
import { keptText } from './cells.ts'
import type { PlacedText } from './received.ts'

/** The most characters, as JSON, of the texts that are compared. One limit is for rows with a code, and another for the rest. */
const MAX_CHARACTERS = 250_000

/** A text as it is remembered. */
export const keep = (text: PlacedText): PlacedText => ({
  ...text,
  where: keptText(text.where),
  text: keptText(text.text),
  code: keptText(text.code),
})

/** The key of a remembered text. Codes that differ only in capitals are the same. */
export const keyOf = ({ where, text, code }: PlacedText): string =>
  code === '' ? `${where}\n${text}` : code.toLowerCase()

/** The different texts of a file, by their keys. */
export class FileTexts {
  readonly byKey = new Map<string, PlacedText>()
  /** How many more texts the file has, beyond the limit. */
  uncompared = 0
  readonly #left = { coded: MAX_CHARACTERS, others: MAX_CHARACTERS }

  /** Adds a text, unless it is blank or already there. Returns its key. */
  add(text: PlacedText): string {
    const key = keyOf(keep(text))
    if (text.text === '' || this.byKey.has(key)) return key
    const kind = text.code === '' ? 'others' : 'coded'
    this.#left[kind] -= JSON.stringify(text).length
    if (this.#left[kind] >= 0) this.byKey.set(key, text)
    else this.uncompared++
    return key
  }
}
