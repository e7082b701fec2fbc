/** What a file says beside its items. */
import { keptText } from './cells.ts'
import type { PlacedText } from './received.ts'

/** The most characters, as JSON, of the texts that are compared: of rows that have a code, and of all others. */
const MAX_CHARACTERS = 250_000

/** A text as it is remembered. */
export const keep = (text: PlacedText): PlacedText => ({
  ...text,
  where: keptText(text.where),
  text: keptText(text.text),
  code: keptText(text.code),
})

/** What tells remembered texts apart. Capitals do not tell codes apart. */
export const keyOf = ({ where, text, code }: PlacedText): string =>
  code === '' ? `${where}\n${text}` : code.toLowerCase()

/** The different texts of a file, by their keys. */
export class FileTexts {
  readonly byKey = new Map<string, PlacedText>()
  /** How many more there are. */
  uncompared = 0
  readonly #left = { coded: MAX_CHARACTERS, others: MAX_CHARACTERS }

  /** Adds a text, unless it is blank or there. Returns its key. */
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
