import { UnreadableFileError } from './errors.ts'
import { texts } from './texts.ts'
import { type Element, isSet } from './xml.ts'

/** The longest text of a cell (Excel specifications and limits). The limit matters, because thousands of cells may refer to one text. */
export const MAX_CELL_LENGTH = 32_767

/**
 * Joins the parts of the text of a cell (ECMA-376 part 1, section 18.4), without phonetic hints. A slash separates what is struck
 * out from what is not. Without the slash, a struck old price and the new price beside it would read as one number.
 */
export function createRichText() {
  let text = ''
  let [isStruck, wasStruck] = [false, false]
  return {
    /** Sees each element that ends within the text. Throws `UnreadableFileError` if the text is too long. */
    see(element: Element): void {
      const { name, parent } = element
      if (name === 'v' || (name === 't' && parent?.name !== 'rPh')) {
        if (text !== '' && isStruck !== wasStruck) text += ' / '
        wasStruck = isStruck
        text += element.text
        if (text.length > MAX_CELL_LENGTH) throw new UnreadableFileError(0, texts.unreadable.longCell)
      } else if (name === 'strike') isStruck = isSet(element.attributes.val, true)
      else if (name === 'r') isStruck = false
    },
    /** Returns the text so far, and begins the next one. */
    take(): string {
      const taken = text
      text = ''
      return taken
    },
  }
}
