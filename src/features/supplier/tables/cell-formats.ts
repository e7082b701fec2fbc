import { format, getFormatFromId } from 'numfmt'
import { exact } from './prices.ts'
import { type Element, isSet } from './xml.ts'

/** The longest format, in characters (Excel specifications and limits). */
const MAX_FORMAT = 255
const FORMAT_OPTIONS = { locale: 'en-AU', fillChar: '', skipChar: '', nbsp: false } as const
/** Formats that add no text to a number and keep its value. A number in such a format is shown with all its digits. */
const IN_FULL = /^(\[\$-[^\]]*\])?(general|@|[0#?.,]*E[+-]0+|)$/i

export type CellFormats = ReturnType<typeof createCellFormats>

/** Shows numbers as a spreadsheet does, but with all digits where a spreadsheet would shorten a number to fit its column. */
export function createCellFormats() {
  const custom = new Map<number, string>()
  const styles: { pattern: string; isStruck: boolean }[] = []
  /** Whether each font of the file strikes its text out. `isStruck`: the same for the font that is being read. */
  const struckFonts: boolean[] = []
  let isStruck = false

  return {
    /** Sees each element of `xl/styles.xml`. */
    see({ name, attributes, parent }: Element): void {
      if (name === 'numFmt') custom.set(Number(attributes.numFmtId), attributes.formatCode ?? '')
      else if (name === 'strike') isStruck = isSet(attributes.val, true)
      else if (name === 'font') {
        if (parent?.name === 'fonts') struckFonts.push(isStruck)
        isStruck = false
      } else if (name === 'xf' && parent?.name === 'cellXfs') {
        const { numFmtId = 0, fontId = 0 } = attributes
        const id = Number(numFmtId)
        // A file may refer to built-in formats without defining them (ECMA-376 part 1, section 18.8.30).
        const pattern = custom.get(id) ?? getFormatFromId(id, FORMAT_OPTIONS.locale)
        styles.push({ pattern, isStruck: struckFonts[Number(fontId)] ?? false })
      }
    },
    /** Shows a number in the format of a cell's style, or with all its digits if the format cannot be read. */
    show(value: number, style: number): string {
      const { pattern = '' } = styles[style] ?? {}
      if (IN_FULL.test(pattern) || pattern.length > MAX_FORMAT) return inFull(value)
      try {
        return format(pattern, value, FORMAT_OPTIONS).trim()
      } catch {
        return inFull(value)
      }
    },
    /** Whether the font of a cell's style strikes its content out. */
    isStruck: (style: number): boolean => styles[style]?.isStruck ?? false,
  }
}

/** Returns a number with all its digits. A spreadsheet would shorten a long number to 9.31235E+12. */
function inFull(value: number): string {
  const text = String(exact(value))
  return text.includes('e+') ? BigInt(exact(value)).toString() : text
}
