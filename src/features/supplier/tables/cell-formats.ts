import { format, getFormatFromId, getFormatInfo } from 'numfmt'
import { exact } from './prices.ts'
import { type Element, isSet } from './xml.ts'

/** The longest format, in characters (Excel specifications and limits). */
const MAX_FORMAT = 255
/** Days between the two origins of dates that a workbook can have. */
const DAYS_TO_1904 = 1462
const FORMAT_OPTIONS = { locale: 'en-AU', fillChar: '', skipChar: '', nbsp: false } as const

/** A cell with a number. */
export interface NumberCell {
  /** As the spreadsheet shows it, in full where the column would be too narrow. */
  text: string
  /** The number as it is shown; NaN if something else is shown, such as a date or a percentage. */
  number: number
}

export type CellFormats = ReturnType<typeof createCellFormats>

/** Shows numbers as a spreadsheet does. `date1904`: dates count from 1904. */
export function createCellFormats(date1904: boolean) {
  const custom = new Map<number, string>()
  const styles: { format: number; isStruck: boolean }[] = []
  const shown = new Map<number, (value: number) => NumberCell>()
  /** Which fonts strike out, and whether the current one does. */
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
        styles.push({ format: Number(numFmtId), isStruck: struckFonts[Number(fontId)] ?? false })
      }
    },
    /** Shows a number with the format of a cell's style. */
    show(value: number, style: number): NumberCell {
      const id = styles[style]?.format ?? 0
      let show = shown.get(id)
      if (!show) {
        // Formats that a file refers to without defining them: ECMA-376 part 1, section 18.8.30.
        show = formatter(custom.get(id) ?? getFormatFromId(id, FORMAT_OPTIONS.locale), date1904)
        shown.set(id, show)
      }
      return show(value)
    },
    /** Whether the font of a cell's style strikes its content out. */
    isStruck: (style: number): boolean => styles[style]?.isStruck ?? false,
  }
}

/** Formats without a text of their own that do not change the value: it is shown with all its digits. */
const IN_FULL = /^(\[\$-[^\]]*\])?(general|@|[0#?.,]*E[+-]0+|)$/i

/** Shows numbers with one format; with one that cannot be read, as they are. */
function formatter(pattern: string, date1904: boolean): (value: number) => NumberCell {
  const type = pattern.length > MAX_FORMAT || IN_FULL.test(pattern) ? undefined : typeOf(pattern)
  if (type === undefined) return (value) => ({ text: inFull(value), number: exact(value) })
  const isDate = ['date', 'time', 'datetime', 'duration'].includes(type)
  return (value) => {
    try {
      const text = format(pattern, isDate && date1904 ? value + DAYS_TO_1904 : value, FORMAT_OPTIONS).trim()
      return { text, number: isDate ? Number.NaN : numberIn(text, value) }
    } catch {
      return { text: inFull(value), number: Number.NaN }
    }
  }
}

function typeOf(pattern: string): string | undefined {
  try {
    const { isDate, type } = getFormatInfo(pattern)
    return isDate ? 'date' : type
  } catch {
    return undefined
  }
}

/** The number that a text shows, if it is the value rounded; NaN otherwise, as with percentages and thousands. */
function numberIn(text: string, value: number): number {
  const from = text.slice(Math.max(text.search(/\.?\d/), 0))
  const [, whole = '', decimals = '', rest = ''] = /^(\d[\d,\s'’]*)?(?:\.(\d*))?(.*)$/s.exec(from) ?? []
  if (whole + decimals === '' || /\d/.test(rest)) return Number.NaN
  const shown = Number(`${whole.replace(/\D/g, '')}.${decimals}`)
  // The sign may be shown as brackets, or only by a colour.
  const isRounded = Math.abs(shown - Math.abs(exact(value))) <= 0.5001 * 10 ** -decimals.length
  // A price of 0.004 that is shown as 0.00 is not free.
  return isRounded && (shown !== 0 || value === 0) ? Math.sign(value) * shown : Number.NaN
}

/** A number with all its digits, where a spreadsheet would shorten a long one to 9.31235E+12. */
function inFull(value: number): string {
  const text = String(exact(value))
  return text.includes('e+') ? BigInt(exact(value)).toString() : text
}
