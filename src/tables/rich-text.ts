import { UnreadableFileError } from './errors.ts'
import { texts } from './texts.ts'
import { type Element, isSet } from './xml.ts'

/** The longest text of a cell (Excel specifications and limits). */
export const MAX_CELL_LENGTH = 32_767
const SUPERSCRIPTS = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹']

/**
 * Joins the parts of the text of a cell (ECMA-376 part 1, section 18.4). Phonetic hints do not belong to it. Parts with a format of their
 * own show it: raised digits, as in `m²`, and text that is struck out. Without that, `12` with raised cents would be 1250, and
 * a new price beside the struck old one a number of both.
 */
export function createRichText() {
  let text = ''
  let [isRaised, isStruck, wasStruck] = [false, false, false]
  return {
    /** Sees each element that ends within the text. Throws `UnreadableFileError` if it is too long. */
    see(element: Element): void {
      const { name, attributes, parent } = element
      if (name === 'vertAlign') isRaised = attributes.val === 'superscript'
      else if (name === 'strike') isStruck = isSet(attributes.val, true)
      else if (name === 'r') isRaised = isStruck = false
      else if (name === 'v' || (name === 't' && parent?.name !== 'rPh')) {
        if (text !== '' && isStruck !== wasStruck) text += ' / '
        wasStruck = isStruck
        text += isRaised
          ? element.text.replace(/\d/g, (digit) => SUPERSCRIPTS[Number(digit)] ?? '')
          : element.text
        if (text.length > MAX_CELL_LENGTH) throw new UnreadableFileError(0, texts.unreadable.longCell)
      }
    },
    /** The text so far; the next one begins. */
    take(): string {
      const taken = text
      text = ''
      return taken
    },
  }
}
