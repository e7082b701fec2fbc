/** What the pages of an import show: page one, page two, and how sending goes. */
import type { Vault } from '../../../connect/index.ts'
import { format } from '../../../web/kit.ts'
import { texts as catalogueTexts } from '../../catalogues/texts.ts'
import { columnFor, MAX_VALUES, MONEY, USES } from './choice.ts'
import { type Filled, filledIn } from './form.ts'
import type { Example, Found, Reading, Value } from './found.ts'
import type { Import } from './import.ts'
import type { SentFile } from './received.ts'
import { changeText, choiceArgument, detailText, differencesIn, nameOf, reasonSentence } from './sentences.ts'
import { texts } from './texts.ts'

type RejectedForm = Parameters<typeof typedIn>[0]

/** How many different values of a column page one shows, unless they are to be ticked. */
const MAX_SHOWN = 20
/** How many sample cells are shown for a column whose values are not shown. */
const MAX_SAMPLES = 3
/** How many unchanged cells of a row page two shows openly. */
const MAX_OPEN = 12

/** An import for pages and JSON. `itemCount` is the number of items, because in the JSON `items` are the items themselves. */
export const importView = ({ userId: _, items, ...job }: Import) => ({ ...job, itemCount: items })

/** What was read, for JSON. Leaves out what is remembered of the file, and which user made the last choice. */
export const readingView = ({ outline, found, missing }: Reading) => {
  const { lastChoice, ...shown } = outline
  const { memory: _, ...sent } = found ?? { memory: null }
  return { outline: { ...shown, filledInAt: lastChoice?.at ?? null }, found: found && sent, missing }
}

/** The data that every page of an import has. */
const shared = (job: Import, reading: Reading | null) => ({
  job: { ...importView(job), ...badgeOf(job) },
  bxcontext: job.bxcontext,
  rejected: reading?.found ? rejectedData(reading.found) : [],
  importTexts: texts,
  catalogueTexts,
  styles: ['/assets/supplier/price-files/price-files.css'],
})

/** What was typed into the form of a page that failed, or that was sent when the session had ended. Other forms do not count. */
const typedIn = (form?: { values: Record<string, unknown> }) =>
  form?.values.seen === undefined || form.values.state !== undefined ? undefined : form.values

/** Page one. */
export async function choosePage(vault: Vault, job: Import, { outline, missing }: Reading) {
  const { say, suggested } = texts.choose
  const isSuggested = outline.columns.some(({ use }) => use !== 'ignored')
  // If something is missing, the alert says so.
  const lead = missing.length > 0 ? '' : isSuggested ? `${say} ${suggested}` : say
  return {
    view: 'supplier/price-files/choose',
    title: job.fileName,
    data: {
      ...shared(job, null),
      outline,
      fill: (form?: RejectedForm) => columnLists(filledIn(outline, typedIn(form))),
      lead: outline.lastChoice ? await chosenBy(vault, job, outline.lastChoice) : lead,
      remarks: outline.remarks.map(texts.remark),
      missing: missing.map(texts.missing),
      /** The problems that are shown beside the columns. */
      missingColumns: missing.filter(({ field }) => field === 'columns').map(texts.missing),
      /** The field that gets the focus, in the form that `format.invalid` takes. */
      first: { field: missing[0]?.field ?? null },
      uses: USES,
      nameOf,
      money: Object.keys(MONEY),
      maxValues: MAX_VALUES,
    },
  }
}

/** The columns, used ones first. Unused ones with one value are folded. A long list of values is shown whole only to tick them. */
function columnLists(filled: Filled) {
  const all = filled.columns.map((column) => {
    const isTicked = column.use === 'only' || column.use === 'taxed'
    const all = column.values ?? []
    const shown = all.slice(0, isTicked ? MAX_VALUES : isDistinct(all) ? 0 : MAX_SHOWN)
    const samples = shown.length === 0 ? column.samples.length : 0
    return { ...column, shown, more: all.length - shown.length - samples }
  })
  const isFolded = ({ use, values }: (typeof all)[number]) => use === 'ignored' && values?.length === 1
  return {
    filled,
    price: columnFor({ columns: all }, 'price'),
    columns: all
      .filter((column) => !isFolded(column))
      .sort((a, b) => Number(a.use === 'ignored') - Number(b.use === 'ignored')),
    folded: all.filter(isFolded),
  }
}

/** Whether (nearly) every row has another value, so that counts say nothing. */
const isDistinct = (values: Value[]) =>
  values.length > MAX_SAMPLES && values.length >= 0.9 * values.reduce((sum, { count }) => sum + count, 0)

/** Says whose choice is filled in, and when it was made. The platform gives the name of the person. */
async function chosenBy(vault: Vault, { userId }: Import, { at, by }: Pick<SentFile, 'at' | 'by'>) {
  const { you, someone, commandLine, filledIn: sentence } = texts.choose
  if (by === null) return sentence(someone, at)
  if (by === 'command line') return sentence(commandLine, at)
  if (by.userId === userId) return sentence(you, at)
  const connection = await vault.find(by).catch(() => null)
  return sentence(connection?.userName ? format.isolated(connection.userName) : someone, at)
}

/** Page two. */
export function comparePage(job: Import, reading: Reading, found: Found) {
  const { compared, choice, items, examples, constants, rejected } = found
  const { send } = texts
  const price = columnFor(choice, 'price')
  const leftOutRows = rejected.find(({ reason }) => reason === 'leftOut')?.rows ?? []
  const listed = [...examples.map(({ item }) => item.code), ...leftOutRows.map(({ code }) => code)]
  return {
    view: 'supplier/price-files/compare',
    title: job.fileName,
    data: {
      ...shared(job, reading),
      differences: differencesIn(compared),
      items,
      constants,
      examples: examples.map((one) => ({ ...one, ...foldedIn(one), change: changeText(one) })),
      ticksOf: (form?: RejectedForm) => {
        const typed = typedIn(form)
        const leftOut = typed ? listIn(typed.leaveOut) : job.leftOut
        const isLeftOut = (code: string) => leftOut.some((one) => one.toLowerCase() === code.toLowerCase())
        return {
          isLeftOut,
          /** Codes that are left out, and whose rows are not on this page. */
          others: leftOut.filter((code) => !listed.includes(code)),
          isConfirmed: typed?.confirm === 'on',
        }
      },
      box: found.box.map(texts.boxReason),
      prices: send.prices(price ? nameOf(price) : '', choice.money, choice.units),
      audience: send.audiences[job.catalogueScope ?? ''] ?? send.unknownAudience,
      choice: choiceArgument(choice),
      remarks: reading.outline.remarks.map(texts.remark),
    },
  }
}

/** The other cells of a row. If there are many, only the new ones are open. */
function foldedIn({ others }: Example): Record<'others' | 'folded', Example['others']> {
  const { open = [], folded = [] } = Object.groupBy(others, ({ isNew }) => (isNew ? 'open' : 'folded'))
  return folded.length > MAX_OPEN ? { others: open, folded } : { others, folded: [] }
}

/** The values of a field of a form that may be there several times. */
export const listIn = (field: unknown): string[] =>
  field === undefined ? [] : Array.isArray(field) ? field.map(String) : [String(field)]

const rejectedData = ({ rejected }: Found) =>
  rejected.map(({ reason, count, rows }) => ({
    reason,
    sentence: reasonSentence(reason, count),
    cure: texts.rejected.cures[reason] ?? '',
    isNew: rows.some(({ isNew }) => isNew),
    count,
    rows: rows.map((row) => ({ ...row, detail: detailText(row) })),
  }))

/** An import that is sent, or was. */
export const progressPage = (job: Import, reading: Reading | null) => ({
  view: 'supplier/price-files/progress',
  title: job.fileName,
  data: { ...shared(job, reading), isUnfinished: job.state === 'running' },
})

const TONES: Record<Import['state'], string> = {
  ready: '',
  running: '',
  completed: 'connected',
  failed: 'revoked',
  stopped: 'degraded',
}

/** The label and CSS class of a job's badge. */
export function badgeOf({ state, choice }: Import): { label: string; tone: string } {
  const { states } = texts
  return { label: state === 'ready' && !choice ? states.needsInput : states[state], tone: TONES[state] }
}
