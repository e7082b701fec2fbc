/** What a draft needs to be confirmed, and whether a confirmed layout fits a file. Everything here is pure. */
import {
  type Column,
  type Draft,
  type Layout,
  type SheetLayout,
  STATEMENTS,
  type Statements,
  signOf,
  USES,
  type Use,
} from './layout.ts'
import type { Outline, SheetOutline } from './outline.ts'
import { texts } from './texts.ts'

const signsOf = (found: readonly string[]) => [...new Set(found.map(signOf))].filter(Boolean).sort()

/** What a file says outside its tables, and the names of the sheets that are not used. */
const surroundingsOf = ({ sheets }: Outline) => ({
  otherSheets: signsOf(sheets.filter(({ isUsed }) => !isUsed).map(({ name }) => name)),
  texts: signsOf(sheets.flatMap((sheet) => sheet.texts)),
})

/** Whether a draft has a sheet with a code and a price, and every statement. */
export const isComplete = (draft: Draft): draft is Draft & Statements =>
  columnsProblem(draft) === undefined && STATEMENTS.every((statement) => draft[statement] !== undefined)

/** The confirmation of a complete draft for the file with this outline. */
export const confirmed = (
  draft: Draft & Statements,
  outline: Outline,
  by: Pick<Layout, 'confirmedBy' | 'confirmedAt'>,
): Layout => ({ ...draft, ...surroundingsOf(outline), ...by })

/** What is wrong with the columns of a draft, as a sentence; undefined if items can be read with them. */
export function columnsProblem({ sheets, tax }: Draft): string | undefined {
  if (sheets.length === 0) return texts.layout.noSheet
  for (const { name, columns } of sheets) {
    const count = (use: Use) => columns.filter((column) => column.use === use).length
    for (const use of ['code', 'price'] as const)
      if (count(use) === 0) return texts.layout.missing(texts.uses[use], name)
    const twice = USES.find((use) => use !== 'ignored' && use !== 'not for sale if' && count(use) > 1)
    if (twice) return texts.layout.twice(texts.uses[twice], name)
    for (const column of columns)
      if ('yes' in column && column.yes.length + column.no.length === 0)
        return texts.layout.noValues(column.heading, texts.uses[column.use])
    if (count('tax included') > 0 && tax === 0) return texts.layout.noTax
  }
  return undefined
}

/** Whether a column says which prices include tax. */
export const hasTaxColumn = ({ sheets }: Draft): boolean =>
  sheets.some(({ columns }) => columns.some(({ use }) => use === 'tax included'))

/** A draft without the statement that its columns contradict: where one says which prices include tax, some do. */
export function consistent(draft: Draft): Draft {
  const { tax, ...others } = draft
  return tax === 0 && hasTaxColumn(draft) ? others : draft
}

/** Who may see the prices decides which catalogue they may be in. Returns what is wrong, as a sentence. */
export const audienceProblem = (
  { audience }: Pick<Draft, 'audience'>,
  scope: string | null | undefined,
): string | undefined =>
  audience === 'selected' && scope?.toLowerCase() !== 'managed' ? texts.layout.publicCatalogue : undefined

const nameOf = (sheet: Pick<SheetLayout, 'name'>) => signOf(sheet.name)
/** The sheet of this name, or else of one that differs only by digits and dates. */
export const sameSheet = <T extends { name: string }>(sheets: readonly T[], { name }: { name: string }) =>
  sheets.find((other) => other.name === name) ?? sheets.find((other) => signOf(other.name) === signOf(name))

/** How a file differs from the one that a layout was confirmed for, in sentences; none if the layout fits. */
export function differences(layout: Layout, outline: Outline): string[] {
  const { changed } = texts
  const now = surroundingsOf(outline)
  const found = layout.sheets.flatMap((sheet) => {
    const same = sameSheet(outline.sheets, sheet)
    return same ? columnDifferences(sheet, same) : [changed.sheetMissing(sheet.name)]
  })
  const used = outline.sheets.filter(({ isUsed }) => isUsed)
  for (const { name } of used) if (!sameSheet(layout.sheets, { name })) found.push(changed.sheetNew(name))
  for (const sheet of now.otherSheets)
    if (!layout.otherSheets.includes(sheet) && !layout.sheets.some((one) => nameOf(one) === sheet))
      found.push(changed.sheetNew(sheet))
  for (const sheet of layout.otherSheets)
    if (!outline.sheets.some((one) => nameOf(one) === sheet)) found.push(changed.sheetMissing(sheet))
  const own = new Map(outline.sheets.flatMap((sheet) => sheet.texts).map((text) => [signOf(text), text]))
  for (const sign of now.texts)
    if (!layout.texts.includes(sign)) found.push(changed.textNew(own.get(sign) ?? sign))
  for (const sign of layout.texts) if (!now.texts.includes(sign)) found.push(changed.textMissing(sign))
  return found
}

function columnDifferences(sheet: SheetLayout, { columns, headingsRow }: SheetOutline): string[] {
  const { changed } = texts
  const [before, now] = [sheet.columns, columns].map((list) => list.map((column) => column.heading))
  if (!before || !now || (sheet.headingsRow === 0) !== (headingsRow === 0)) return [changed.headings]
  const isNew = now.filter((name) => !before.includes(name)).map((name) => changed.columnNew(name))
  const isMissing = before.filter((name) => !now.includes(name)).map((name) => changed.columnMissing(name))
  const isMoved = before.length !== now.length || before.some((name, index) => now[index] !== name)
  if (isNew.length + isMissing.length > 0) return [...isNew, ...isMissing]
  return isMoved ? [changed.columnsMoved] : []
}

/**
 * The statements of an earlier layout, if they are still true for a file: they are about all prices, so they are made again if
 * a text, a sheet or the price has changed.
 */
export function keptStatements(
  { sheets, otherSheets, texts: said, tax, currency, audience }: Layout,
  { draft, outline }: { draft: Draft; outline: Outline },
): Statements | undefined {
  const pricesOf = (list: readonly SheetLayout[]) =>
    list.map((sheet) => [nameOf(sheet), ...sheet.columns.filter(saysPrice).map(({ heading }) => heading)])
  const before = [{ otherSheets, texts: said }, pricesOf(sheets)]
  const now = [surroundingsOf(outline), pricesOf(draft.sheets)]
  return JSON.stringify(now) === JSON.stringify(before) ? { tax, currency, audience } : undefined
}

const saysPrice = ({ use }: Column) => use === 'price' || use === 'tax included'
