import { rmSync } from 'node:fs'
import { UnreadableFileError } from '../../tables/errors.ts'
import { type Decimal, decimalOfColumn, type PriceReader, shorten } from '../../tables/prices.ts'
import type { MergedCells, Row } from '../../tables/row.ts'
import { type BatchWriter, createBatchWriter, removeItems } from './batches.ts'
import { doubtsPrice, isTitlePerSeveral } from './columns.ts'
import type { Item } from './item.ts'
import { createItemReader, isProblem, type Problem } from './items.ts'
import { type Layout, openPriceFile, type PriceFile } from './layout.ts'
import { type Choices, isPriceConfirmed, priceQuestion, type Question } from './questions.ts'
import { createDoubts, type DoubtsOptions } from './row-doubts.ts'
import { createSeenCodes } from './seen-codes.ts'
import { saysTaxExcluded, saysTaxIncluded, saysTaxOfSome } from './tax.ts'
import { texts } from './texts.ts'

/** The result of a check. */
export interface Check extends Layout {
  /** The decimal sign of the prices; null if it does not matter or is not known. */
  decimal: Decimal | null
  /** The tax that was removed from the prices, in percent. */
  gst: number
  /** Number of rows, without the headings. */
  rows: number
  /** Number of items. */
  validRows: number
  invalidRows: number
  /** Number of rows that repeat another one, which is sent once. */
  repeatedRows: number
  /** The first items, as they will be sent. */
  preview: Item[]
}

export interface CheckOptions {
  choices?: Choices
  /** The name of the file for its user, if it is not that of the path. */
  fileName?: string
  /** Where to write the items as upload requests, for `readBatches`. */
  itemsPath?: string
  /** Where to write the prices by code, for `comparePrices`. */
  pricesPath?: string
  /** Size of the file in bytes, if known; it helps to allocate memory. */
  bytes?: number
}

export interface CheckedFile {
  check: Check
  /** The first problems by line, at most 10,000; the rest are only counted. */
  problems: Problem[]
}

/** Maximum number of problems that are listed, and of characters in their cells. */
export const MAX_PROBLEMS = 10_000
const MAX_PROBLEM_CHARACTERS = 10_000_000
const PREVIEW_ITEMS = 10
/** Maximum number of rows: the table of their codes is kept in memory. */
const MAX_ROWS = 2_000_000
/** Length of a short row, in bytes: used to estimate the number of rows from the file size. */
const MIN_ROW_BYTES = 32

/**
 * Checks every row of a price file, and writes the items as they will be sent. All prices together decide on their
 * decimal sign: a file with prices such as `1,250` is read twice.
 * Throws `UnreadableFileError`, also if the file has no rows after the headings, and the errors of the file system.
 */
export async function checkPriceFile(path: string, options: CheckOptions = {}): Promise<CheckedFile> {
  const chosen = options.choices?.decimal
  const first = await checkRows(path, options, chosen)
  const { ambiguous, example } = first.found
  if (first.check.mappingErrors.length > 0) return first
  if (first.priceNote !== undefined)
    return askAfterwards(
      first,
      options,
      'columns',
      priceQuestion(first.priceNote, priceHeadingOf(first.check)),
    )
  const { preview } = first.check
  if (!isPriceConfirmed(options.choices ?? {}) && preview.length > 0 && first.isFree)
    return askAfterwards(first, options, 'columns', texts.questions.allFree(priceHeadingOf(first.check)))
  if (first.taxNote !== undefined)
    return askAfterwards(first, options, 'gst', texts.questions.taxInNote(first.taxNote))
  if (chosen || ambiguous === 0) return first
  const decimal = decimalOfColumn(first.found)
  if (decimal) return checkRows(path, options, decimal)
  return askAfterwards(first, options, 'decimal', texts.questions.decimal(example))
}

/** A check that has found a question in the rows: nothing can be sent until it is answered. */
function askAfterwards(
  { check }: CheckedFile,
  { itemsPath }: CheckOptions,
  question: Question,
  text: string,
): CheckedFile {
  if (itemsPath !== undefined) rmSync(itemsPath, { force: true })
  const asked = { questions: [question], isPriceDoubtful: question === 'columns', mappingErrors: [text] }
  return { check: { ...check, ...NOTHING, ...asked }, problems: [] }
}

const NOTHING = { validRows: 0, invalidRows: 0, repeatedRows: 0, preview: [] }

/**
 * A check, what the decimal sign of its prices can be told from, and notes among the rows, or printed on each page, that
 * are questions unless they have been answered: where it stands that prices include tax, and what doubts them.
 */
type Reading = CheckedFile & {
  found: PriceReader['found']
  taxNote: string | undefined
  priceNote: readonly [where: string, note: string] | undefined
  /** Whether every price is 0, as those of formulas that a program has written are. */
  isFree: boolean
}

async function checkRows(path: string, options: CheckOptions, decimal?: Decimal): Promise<Reading> {
  const { choices = {}, itemsPath, pricesPath, bytes, fileName } = options
  const file = await openPriceFile(path, choices, fileName)
  const { layout, delimiter, rows, lateRemarks } = file
  const gst = choices.gst ?? 0
  const reader = createItemReader({ ...layout, delimiter, decimal, gst: choices.gst })
  // Until the questions are answered, every row could have the same problem.
  const isKnown = layout.mappingErrors.length === 0
  const writer = isKnown && itemsPath !== undefined ? createBatchWriter(itemsPath) : undefined
  const collector = createCollector(writer, bytes, { ...layout, delimiter, gst })
  let count = 0
  const notes = createNotes(choices, layout)
  try {
    for await (const batch of rows) {
      count += batch.length
      if (count > MAX_ROWS) throw new UnreadableFileError(1, texts.unreadable.manyRows(MAX_ROWS))
      if (!isKnown) continue
      for (const row of batch) {
        const item = reader.read(row)
        collector.add(row, item)
        if (isProblem(item))
          notes.see(texts.places.line(row.line), row.cells, row.cells[layout.columns.price ?? -1])
      }
    }
    notes.see(texts.places.printed, file.printed)
    for (const comment of file.comments) notes.see(texts.places.comment, [comment])
    if (count === 0) throw new UnreadableFileError(1, texts.unreadable.onlyHeadings)
    const { problems, remarks, isFree, ...counts } = await collector.end(file.merged)
    await addCells(problems, collector.earlierLines, () => openPriceFile(path, choices, fileName))
    if (pricesPath !== undefined) collector.savePrices(pricesPath)
    const check = { ...layout, ...counts, decimal: decimal ?? null, gst, rows: count }
    return {
      check: { ...check, remarks: [...layout.remarks, ...lateRemarks, ...remarks] },
      problems,
      found: reader.found,
      taxNote: notes.taxNote(),
      priceNote: notes.priceNote(),
      isFree,
    }
  } catch (error) {
    writer?.discard()
    throw error
  }
}

/** Looks at the texts that are no items, for questions that they raise unless they have been answered. */
function createNotes(choices: Choices, layout: Layout) {
  const priceHeading = priceHeadingOf(layout)
  const isTaxKnown = saysTaxExcluded(priceHeading)
  let taxNote: string | undefined
  let priceNote: Reading['priceNote']
  const see = (where: string, texts: readonly string[], priceCell = '') => {
    if (
      choices.gst === undefined &&
      texts.some((text) => isTaxNote(text) && (!isTaxKnown || saysTaxOfSome(text)))
    )
      taxNote ??= where
    const isHeading = !/^\W*\d/.test(priceCell) && isTitlePerSeveral(priceCell)
    const isTitle = isHeading || texts.filter((text) => !isBlank(text)).length === 1
    // A row with a price is an item; the check of its values rejects it.
    if (isPriceConfirmed(choices) || !(isTitle || isBlank(priceCell))) return
    const doubt = texts.find(
      (text) => doubtsPrice(text, priceHeading) || (isTitle && isTitlePerSeveral(text)),
    )
    if (doubt !== undefined) priceNote ??= [where, doubt]
  }
  return { see, taxNote: () => taxNote, priceNote: () => priceNote }
}

const priceHeadingOf = ({ headings, columns }: Pick<Layout, 'headings' | 'columns'>) =>
  headings[columns.price ?? -1] ?? ''

const isBlank = (cell = '') => cell.trim() === ''

/** Whether a cell of a row that is no item says that prices include tax. A sum may include it all the same. */
const isTaxNote = (cell: string) => saysTaxIncluded(cell) && !/\btotal/i.test(cell)

/** Collects the items and problems of a file, and finds codes that occur more than once. */
function createCollector(
  writer: BatchWriter | undefined,
  bytes: number | undefined,
  layout: DoubtsOptions & { gst: number },
) {
  const expected = bytes === undefined ? undefined : Math.min(Math.ceil(bytes / MIN_ROW_BYTES), MAX_ROWS)
  const seen = createSeenCodes(expected)
  const problems: Problem[] = []
  /** Codes with several prices. It is not known which is right, so none is sent. */
  const conflicts = new Set<string>()
  /** The rows before, of which only the code is known by then. */
  const earlierLines = new Set<number>()
  let preview: Item[] = []
  const counts = noRows()
  const doubts = createDoubts(layout)
  const keep = problemKeeper(problems)
  const reject = (problem: Problem) => {
    counts.invalidRows++
    keep(problem)
  }

  return {
    add(row: Row, item: Item | Problem): void {
      doubts.see(row, item)
      if (isProblem(item)) {
        reject(item)
        return
      }
      const { code, price, unit } = item
      const earlier = seen.add(code, row.line, price, unit)
      if (!earlier) {
        countValid(counts, price, layout.gst)
        if (preview.length < PREVIEW_ITEMS) preview.push(item)
        writer?.add(item)
      } else if (earlier.isSame) counts.repeatedRows++
      else {
        reject({ line: row.line, reason: otherPrice(code, earlier.line), cells: row.cells })
        if (!withdraw(code, conflicts, counts)) return
        earlierLines.add(earlier.line)
        reject({ line: earlier.line, reason: otherPrice(code, row.line), cells: [code] })
      }
    },
    earlierLines,
    savePrices: (path: string) => seen.save(path, conflicts),
    /** Completes the file of items. `merged`: cells that are merged with those below them. */
    async end(merged: readonly MergedCells[]) {
      writer?.end()
      for (const { code, ...problem } of doubts.confirmed(merged))
        if (withdraw(code, conflicts, counts)) reject(problem)
      if (writer && conflicts.size > 0) await removeItems(writer.path, conflicts)
      problems.sort((a, b) => a.line - b.line)
      preview = preview.filter(({ code }) => !conflicts.has(code))
      return { ...summaryOf(counts), preview, problems }
    },
  }
}

const noRows = () => ({ validRows: 0, invalidRows: 0, repeatedRows: 0, free: 0, nines: 0 })
type Counts = ReturnType<typeof noRows>

function countValid(counts: Counts, price: number, gst: number): void {
  counts.validRows++
  if (price === 0) counts.free++
  else if (isNines(price * (1 + gst / 100))) counts.nines++
}

/** Takes a valid row back, because its code is in doubt. Returns false if it was taken back before. */
function withdraw(code: string, conflicts: Set<string>, counts: Counts): boolean {
  if (conflicts.has(code)) return false
  conflicts.add(code)
  counts.validRows--
  return true
}

function summaryOf(counts: Counts) {
  const { validRows, invalidRows, repeatedRows, free } = counts
  return { validRows, invalidRows, repeatedRows, isFree: free === validRows, remarks: remarksOn(counts) }
}

/** Keeps problems for the report, as long as they fit into it. */
function problemKeeper(problems: Problem[]) {
  let characters = 0
  return (problem: Problem): void => {
    if (problems.length === MAX_PROBLEMS || characters > MAX_PROBLEM_CHARACTERS) return
    characters += lengthOf(problem.cells)
    problems.push(problem)
  }
}

const lengthOf = (cells: readonly string[]) => cells.reduce((sum, cell) => sum + cell.length, 0)

/** Reads the file again for the cells of the problems on these lines, as long as they fit into the report. */
async function addCells(
  problems: Problem[],
  lines: ReadonlySet<number>,
  open: () => Promise<PriceFile>,
): Promise<void> {
  const byLine = new Map(
    problems.flatMap((problem) => (lines.has(problem.line) ? [[problem.line, problem]] : [])),
  )
  if (byLine.size === 0) return
  let characters = 0
  const { rows, close } = await open()
  for await (const batch of rows) {
    for (const { line, cells } of batch) {
      const problem = byLine.get(line)
      if (!problem) continue
      problem.cells = cells
      characters += lengthOf(cells)
      byLine.delete(line)
    }
    if (byLine.size === 0 || characters > MAX_PROBLEM_CHARACTERS) return close()
  }
}

const otherPrice = (code: string, line: number) => texts.row.otherPrice(shorten(code), line)

/** 9999 and more: what some systems export for a price that is not known. */
const isNines = (price: number) => price >= 9999 && /^9+(\.9+)?$/.test(String(Math.round(price * 100) / 100))

function remarksOn({
  repeatedRows,
  free,
  nines,
}: Record<'repeatedRows' | 'free' | 'nines', number>): string[] {
  const remarks: string[] = []
  if (repeatedRows > 0) remarks.push(texts.remarks.repeatedRows(repeatedRows))
  if (free > 0) remarks.push(texts.remarks.free(free))
  if (nines > 0) remarks.push(texts.remarks.nines(nines))
  return remarks
}
