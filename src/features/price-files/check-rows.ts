import { UnreadableFileError } from '../../tables/errors.ts'
import { shorten } from '../../tables/prices.ts'
import type { OpenFile, Row } from '../../tables/sheet.ts'
import { openFile } from '../../tables/table.ts'
import { writeBatches } from './batches.ts'
import { columnsProblem, differences, draftFrom, isComplete, sameSheet } from './confirmation.ts'
import type { Item } from './item.ts'
import type { Draft, Layout, SheetLayout } from './layout.ts'
import {
  createTexts,
  findHeadings,
  headingsOf,
  type Outline,
  outlineSheet,
  remarksOn,
  type StartedSheet,
  startSheet,
} from './outline.ts'
import { createPreview, type PreviewRow } from './preview.ts'
import { createRowReader, type Problem, type RowResult } from './rows.ts'
import { suggestHeadingsRow, suggestSheet } from './suggestions.ts'
import { texts } from './texts.ts'

export interface CheckOptions {
  /** How a person says that the file is to be read, whether or not that is complete. */
  draft?: Draft | undefined
  /** Without a draft: the confirmed layouts that may fit, the latest first. */
  layouts?: readonly Layout[]
  /** Where to write the items as upload requests, for `readBatches`. */
  itemsPath?: string
}

/** What a file comes to. Without a layout that fits, or a complete draft, it has no items. */
export interface Check {
  outline: Outline
  draft: Draft
  /** The confirmed layout that fits. */
  layout: Layout | null
  /** Why the latest confirmed layout does not fit, in sentences. */
  differences: string[]
  /** What keeps the draft from being confirmed, as a sentence; null if nothing does. */
  problem: string | null
  rows: number
  validRows: number
  invalidRows: number
  /** Rows that repeat another one, which is sent once, and rows that are not for sale. */
  repeatedRows: number
  notForSale: number
  /** Sentences on the items. */
  remarks: string[]
  preview: PreviewRow[]
}

export interface CheckedFile {
  check: Check
  /** The first problems by line, at most 1,000; the rest are only counted. */
  problems: Problem[]
}

/** Maximum number of problems that are listed, and of characters in their cells. */
export const MAX_PROBLEMS = 1_000
const MAX_PROBLEM_CHARACTERS = 1_000_000
/** Maximum number of rows: their codes are kept in memory. */
const MAX_ROWS = 500_000

/**
 * Reads every row of a price file, outlines it, and writes its items as they will be sent if a confirmed layout fits, or if
 * the draft is complete. Throws `UnreadableFileError` and the errors of the file system.
 */
export async function checkPriceFile(path: string, options: CheckOptions = {}): Promise<CheckedFile> {
  const { layouts = [] } = options
  const file = await openFile(path)
  const checked = await checkSheets(file, options).finally(file.close)
  const { check } = checked
  if (options.draft || check.layout) return checked
  const other =
    layouts.length > 1 && layouts.find((layout) => differences(layout, check.outline).length === 0)
  if (other) return checkPriceFile(path, { ...options, layouts: [other] })
  // The answers of an earlier layout are enough for the changed file: read it with them, so that its items can be looked at.
  if (!isComplete(check.draft)) return checked
  const again = await checkPriceFile(path, { ...options, draft: check.draft })
  return { ...again, check: { ...again.check, differences: check.differences } }
}

/** How the sheets are read, by which layout or draft. */
interface Plan {
  draft: Draft
  layout: Layout | null
}

async function checkSheets(file: OpenFile, options: CheckOptions): Promise<CheckedFile> {
  const { layouts = [] } = options
  const started: StartedSheet[] = []
  for (const sheet of file.sheets) started.push(await startSheet(sheet))
  if (started.every(({ first }) => first.length === 0))
    throw new UnreadableFileError(0, texts.unreadable.noRows)
  const suggested = started.map(suggest)
  const plan: Plan = options.draft
    ? { draft: withHeadings(options.draft, started), layout: null }
    : planOf(layouts, started, suggested)
  const complete = isComplete(plan.draft) ? plan.draft : undefined
  const collector = complete && createCollector()
  const collected = createTexts()
  const sheets: Outline['sheets'] = []
  let count = 0
  for (const [index, sheet] of started.entries()) {
    const { name, delimiter } = sheet.sheet
    const layout = plan.draft.sheets.find((one) => one.name === name)
    const read = layout && complete && createRowReader(layout, complete, delimiter)
    const onRow = (row: Row) => {
      if (!layout) return
      if (++count > MAX_ROWS) throw new UnreadableFileError(0, texts.unreadable.manyRows(MAX_ROWS))
      if (read && collector) collector.add(name, row, read(row))
    }
    const how = layout ?? suggested[index]
    if (how) sheets.push(await outlineSheet(sheet, how, { isUsed: layout !== undefined, collected, onRow }))
  }
  const used = plan.draft.sheets.map(({ name }) => name)
  const outline: Outline = { sheets, remarks: remarksOn(file, used) }
  const latest = plan.layout ?? layouts[0]
  const found = latest && !options.draft ? differences(latest, outline) : []
  const layout = found.length === 0 && !collected.areTooMany() ? plan.layout : null
  const draft =
    layout || options.draft || !latest
      ? plan.draft
      : draftFrom(suggestedDraft(plan, suggested), latest, outline)
  const tooMany = collected.areTooMany() ? texts.layout.manyTexts : null
  const problem = tooMany ?? columnsProblem(draft) ?? null
  const isRead = layout !== null || options.draft !== undefined
  const isSendable = collector && isRead && problem === null
  const { problems, ...result } = isSendable ? collector.found() : NOTHING
  if (isSendable && options.itemsPath !== undefined) await writeBatches(options.itemsPath, collector.items())
  return { check: { outline, draft, layout, differences: found, problem, rows: count, ...result }, problems }
}

const NOTHING = {
  validRows: 0,
  invalidRows: 0,
  repeatedRows: 0,
  notForSale: 0,
  remarks: [],
  preview: [],
  problems: [],
}

/** What a sheet may be read as, by its first rows. */
function suggest({ sheet, first }: StartedSheet): SheetLayout {
  const at = suggestHeadingsRow(first.slice(0, 100))
  return suggestBelow(sheet.name, first, at)
}

function suggestBelow(name: string, first: readonly Row[], at: number): SheetLayout {
  const headings = headingsOf(first[at], first)
  const columns = headings.map((heading, index) => {
    const cells = first.slice(at + 1).map((row) => row.cells[index]?.trim() ?? '')
    const values = [...new Set(cells.filter((cell) => cell !== ''))]
    return { heading, samples: values, values: values.length > 20 ? null : values, isHidden: false }
  })
  return suggestSheet({ name, headingsRow: first[at]?.line ?? 0, columns })
}

/** A draft whose headings are on another row than its columns say gets those columns anew. */
function withHeadings(draft: Draft, started: readonly StartedSheet[]): Draft {
  const sheets = draft.sheets.flatMap((sheet) => {
    const found = started.find((one) => one.sheet.name === sheet.name)
    if (!found) return []
    const at = found.first.findIndex(({ line }) => line === sheet.headingsRow)
    const headings = headingsOf(found.first[at], found.first)
    const isSame =
      headings.length === sheet.columns.length &&
      headings.every((heading, index) => sheet.columns[index]?.heading === heading)
    return [isSame ? sheet : suggestBelow(sheet.name, found.first, at)]
  })
  return { ...draft, sheets }
}

/** The first layout whose sheets are all in the file with the same headings, or the suggested sheet. */
function planOf(
  layouts: readonly Layout[],
  started: readonly StartedSheet[],
  suggested: SheetLayout[],
): Plan {
  for (const layout of layouts) {
    const sheets = layout.sheets.flatMap((sheet) => locate(sheet, started) ?? [])
    const { tax, currency, audience } = layout
    if (sheets.length === layout.sheets.length) return { draft: { sheets, tax, currency, audience }, layout }
  }
  const isList = (sheet: SheetLayout) => columnsProblem({ sheets: [sheet] }) === undefined
  const visible = suggested.filter((_, index) => !started[index]?.sheet.isHidden)
  const [latest] = layouts
  const same = visible.filter((sheet) => latest && sameSheet(latest.sheets, sheet))
  const first = visible.find(isList) ?? visible.find(({ columns }) => columns.length > 0)
  return { draft: { sheets: same.length > 0 ? same : first ? [first] : [] }, layout: null }
}

/** A confirmed sheet, by the name or else the place that it has in the file. */
function locate(sheet: SheetLayout, started: readonly StartedSheet[]): SheetLayout | undefined {
  const own = sameSheet(
    started.map((one) => one.sheet),
    sheet,
  )
  const { first = [] } = started.find((one) => one.sheet === own) ?? {}
  if (!own) return undefined
  if (sheet.headingsRow === 0) return { ...sheet, name: own.name }
  const at = findHeadings(sheet, first)
  const row = first[at]
  const isAsWide = row && headingsOf(row, first).length === sheet.columns.length
  return isAsWide ? { ...sheet, name: own.name, headingsRow: row.line } : undefined
}

const suggestedDraft = ({ draft }: Plan, suggested: readonly SheetLayout[]): Draft => ({
  sheets: draft.sheets.map((sheet) => suggested.find(({ name }) => name === sheet.name) ?? sheet),
})

/** Collects the items and problems of a file, and finds codes that occur more than once. */
function createCollector() {
  /** The first row with each code: another one may take it back. */
  const seen = new Map<string, { line: number; item: Item }>()
  const preview = createPreview()
  const problems: Problem[] = []
  /** Codes with several prices. It is not known which is right, so none is sent. */
  const conflicts = new Set<string>()
  const counts = { validRows: 0, invalidRows: 0, repeatedRows: 0, notForSale: 0 }
  let free = 0
  let characters = 0

  function reject(problem: Problem): void {
    counts.invalidRows++
    if (problems.length === MAX_PROBLEMS || characters > MAX_PROBLEM_CHARACTERS) return
    characters += problem.cells.reduce((sum, cell) => sum + cell.length, 0)
    problems.push(problem)
  }

  return {
    add(sheet: string, { line, cells }: Row, item: RowResult): void {
      if (item === null) counts.notForSale++
      else if (typeof item === 'string') reject({ sheet, line, reason: item, cells })
      else {
        const { code, price, unit } = item
        const earlier = seen.get(code)
        if (!earlier) {
          seen.set(code, { line, item })
          counts.validRows++
          if (price === 0) free++
          preview.add({ sheet, line, item, cells })
        } else if (earlier.item.price === price && earlier.item.unit === unit) counts.repeatedRows++
        else {
          reject({ sheet, line, reason: texts.row.otherPrice(shorten(code), earlier.line), cells })
          if (conflicts.has(code)) return
          conflicts.add(code)
          counts.validRows--
          reject({
            sheet,
            line: earlier.line,
            reason: texts.row.otherPrice(shorten(code), line),
            cells: [code],
          })
        }
      }
    },
    *items(): Generator<Item> {
      for (const [code, { item }] of seen) if (!conflicts.has(code)) yield item
    },
    found() {
      const remarks = [
        ...(counts.repeatedRows > 0 ? [texts.remarks.repeatedRows(counts.repeatedRows)] : []),
        ...(counts.notForSale > 0 ? [texts.remarks.notForSale(counts.notForSale)] : []),
        ...(free > 0 ? [texts.remarks.free(free)] : []),
      ]
      return {
        ...counts,
        remarks,
        preview: preview.rows(conflicts),
        problems: problems.sort((a, b) => a.line - b.line),
      }
    },
  }
}
