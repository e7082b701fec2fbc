/** A confirmed layout, and how a file differs from it. Everything here is pure. */
import { type Column, type Draft, type Layout, type SheetLayout, type Statements, signOf } from './layout.ts'
import type { Outline, SheetOutline } from './outline.ts'
import { texts } from './texts.ts'

const signsOf = (found: readonly string[]) => [...new Set(found.map(signOf))].filter(Boolean).sort()

/** What a file says outside its tables, and the names of the sheets that are not used. */
const surroundingsOf = ({ sheets }: Outline) => ({
  otherSheets: signsOf(sheets.filter(({ isUsed }) => !isUsed).map(({ name }) => name)),
  texts: signsOf(sheets.flatMap((sheet) => sheet.texts)),
})

/** The confirmation of a complete draft for the file with this outline. */
export const confirmed = (
  draft: Draft & Statements,
  outline: Outline,
  by: Pick<Layout, 'confirmedBy' | 'confirmedAt'>,
): Layout => ({ ...draft, ...surroundingsOf(outline), ...by })

/** The sheet of this name, or else of one that differs only by digits and dates. */
export const sameSheet = <T extends { name: string }>(sheets: readonly T[], { name }: { name: string }) =>
  sheets.find((other) => other.name === name) ?? sheets.find((other) => signOf(other.name) === signOf(name))

/** How a file differs from the one that a layout was confirmed for, in sentences; none if the layout fits. */
export function differences(layout: Layout, { sheets }: Outline): string[] {
  const { changed } = texts
  const columns = layout.sheets.flatMap((sheet) => {
    const same = sameSheet(sheets, sheet)
    return same ? columnDifferences(sheet, same) : []
  })
  const names = [...layout.sheets.map(({ name }) => name), ...layout.otherSheets]
  const said = sheets.flatMap((sheet) => sheet.texts)
  return [
    ...columns,
    ...compare(
      names,
      sheets.map(({ name }) => name),
      { isNew: changed.sheetNew, isMissing: changed.sheetMissing },
    ),
    ...compare(layout.texts, said, { isNew: changed.textNew, isMissing: changed.textMissing }),
  ]
}

/** The sentences on what only one of two lists has. What differs by digits and dates is the same. */
function compare(
  before: readonly string[],
  now: readonly string[],
  { isNew, isMissing }: Record<'isNew' | 'isMissing', (text: string) => string>,
): string[] {
  const isIn = (list: readonly string[]) => {
    const signs = new Set(list.map(signOf))
    return (text: string) => signOf(text) === '' || signs.has(signOf(text))
  }
  const [wasThere, isThere] = [isIn(before), isIn(now)]
  return [
    ...now.filter((text) => !wasThere(text)).map(isNew),
    ...before.filter((text) => !isThere(text)).map(isMissing),
  ]
}

/** Headings are the same only if each letter and digit is: `Price 1` is not `Price 2`. */
function columnDifferences(before: SheetLayout, now: SheetOutline): string[] {
  const { changed } = texts
  const [earlier, current] = [headingsIn(before), headingsIn(now)]
  if ((before.headingsRow === 0) !== (now.headingsRow === 0)) return [changed.headings]
  const found = [
    ...current.filter((heading) => !earlier.includes(heading)).map(changed.columnNew),
    ...earlier.filter((heading) => !current.includes(heading)).map(changed.columnMissing),
  ]
  return found.length === 0 && earlier.join('\n') !== current.join('\n') ? [changed.columnsMoved] : found
}

const headingsIn = ({ columns }: { columns: readonly { heading: string }[] }) =>
  columns.map(({ heading }) => heading)

/** Whether the sheets of a draft have the columns of a layout. */
export const hasColumnsOf = ({ sheets }: Draft, layout: Layout): boolean =>
  JSON.stringify(sheets.map(headingsIn)) === JSON.stringify(layout.sheets.map(headingsIn))

/**
 * The statements of an earlier layout, if they are still true for a file: they are about all prices, so they are made again if
 * a text, a sheet or the price has changed.
 */
export function keptStatements(
  { sheets, otherSheets, texts: said, tax, currency, audience }: Layout,
  { draft, outline }: { draft: Draft; outline: Outline },
): Statements | undefined {
  const pricesOf = (list: readonly SheetLayout[]) =>
    list.map((sheet) => [
      signOf(sheet.name),
      ...sheet.columns.filter(saysPrice).map(({ heading }) => heading),
    ])
  const before = [{ otherSheets, texts: said }, pricesOf(sheets)]
  const now = [surroundingsOf(outline), pricesOf(draft.sheets)]
  return JSON.stringify(now) === JSON.stringify(before) ? { tax, currency, audience } : undefined
}

const saysPrice = ({ use }: Column) => use === 'price' || use === 'tax included'
