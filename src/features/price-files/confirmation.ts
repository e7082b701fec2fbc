/** A confirmed layout, and how a file differs from it. Everything here is pure. */
import { type Draft, type Layout, type SheetLayout, type Statements, signOf } from './layout.ts'
import type { Outline, SheetOutline } from './outline.ts'
import { texts } from './texts.ts'

/** The confirmation of a complete draft for the file with this outline. */
export const confirmed = (
  draft: Draft & Statements,
  { sheets, signs }: Outline,
  confirmedAt: string,
): Layout => ({
  ...draft,
  otherSheets: sheets.filter(({ isUsed }) => !isUsed).map(({ name }) => name),
  texts: signs,
  confirmedAt,
})

const namesIn = ({ sheets, otherSheets }: Layout) => [...sheets.map(({ name }) => name), ...otherSheets]

/**
 * The names of a layout's sheets with those of a file: the same name, or one that differs only by digits and dates. Of
 * several such sheets, as `July` and `August` are, it is not known which one was meant: they are only paired by their names.
 */
export function pairSheets(layout: Layout, now: readonly string[]): Map<string, string> {
  const before = namesIn(layout)
  const alike = (names: readonly string[], name: string) =>
    names.filter((other) => signOf(other) === signOf(name))
  return new Map(
    before.flatMap((name): [string, string][] => {
      if (now.includes(name)) return [[name, name]]
      const [same, ...others] = alike(now, name)
      return same === undefined || others.length > 0 || alike(before, name).length > 1 ? [] : [[name, same]]
    }),
  )
}

/** How a file differs from the one that a layout was confirmed for, in sentences; none if the layout fits. */
export function differences(layout: Layout, outline: Outline): string[] {
  const { sheets } = outline
  const pairs = pairSheets(
    layout,
    sheets.map(({ name }) => name),
  )
  const columns = layout.sheets.flatMap((sheet) => {
    const same = sheets.find(({ name }) => name === pairs.get(sheet.name))
    return same ? columnDifferences(sheet, same) : []
  })
  return [...columns, ...differencesAround(layout, outline, pairs)]
}

/** How the sheets and the texts outside the tables differ. */
function differencesAround(
  layout: Layout,
  { sheets, signs }: Outline,
  pairs: ReadonlyMap<string, string>,
): string[] {
  const { changed } = texts
  const paired = [...pairs.values()]
  const textOf = (sign: string) =>
    sheets.flatMap((sheet) => sheet.texts).find((text) => signOf(text) === sign) ?? sign
  return [
    ...sheets.filter(({ name }) => !paired.includes(name)).map(({ name }) => changed.sheetNew(name)),
    ...namesIn(layout)
      .filter((name) => !pairs.has(name))
      .map(changed.sheetMissing),
    ...signs.filter((sign) => !layout.texts.includes(sign)).map((sign) => changed.textNew(textOf(sign))),
    ...layout.texts.filter((sign) => !signs.includes(sign)).map(changed.textMissing),
  ]
}

/** Headings are the same only if each letter and digit is: `Price 1` is not `Price 2`. */
function columnDifferences(before: SheetLayout, now: SheetOutline): string[] {
  const { changed } = texts
  const [earlier, current] = [headingsIn(before), headingsIn(now)]
  if ((before.headingsRow === 0) !== (now.headingsRow === 0)) return [changed.headings]
  const found = [
    ...without(current, earlier).map(changed.columnNew),
    ...without(earlier, current).map(changed.columnMissing),
  ]
  return found.length === 0 && earlier.join('\n') !== current.join('\n') ? [changed.columnsMoved] : found
}

/** The entries of a list that another one does not have, or has less often. */
const without = (list: readonly string[], other: readonly string[]): string[] => {
  const left = [...other]
  return list.filter((entry) => {
    const at = left.indexOf(entry)
    if (at >= 0) left.splice(at, 1)
    return at < 0
  })
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
  layout: Layout,
  { draft, outline }: { draft: Draft; outline: Outline },
): Statements | undefined {
  const names = outline.sheets.map(({ name }) => name)
  const isSame = differencesAround(layout, outline, pairSheets(layout, names)).length === 0
  const { tax, currency, audience } = layout
  return isSame && pricesIn(draft) === pricesIn(layout) ? { tax, currency, audience } : undefined
}

/** The columns that say what a price is. */
const pricesIn = ({ sheets }: Draft) =>
  JSON.stringify(
    sheets.map(({ columns }) =>
      columns.filter(({ use }) => use === 'price' || use === 'tax included').map(({ heading }) => heading),
    ),
  )
