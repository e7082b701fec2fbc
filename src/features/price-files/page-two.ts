/** What page two shows: what differs, ten rows, the rows that are not sent, and the box. */
import * as box from './box.ts'
import { isFilled, keptText, valueIn } from './cells.ts'
import type { Choice } from './choice.ts'
import type { createColumns } from './columns.ts'
import { comparePrices, compareTexts, compareValues, goneCodes, oldValues, type Past } from './compare.ts'
import { chooseRows, exampleOf, otherColumns, type ShownColumn } from './examples.ts'
import type { Texts } from './file-texts.ts'
import type { BoxReason, Compared, Found } from './found.ts'
import type { Candidate, createItems } from './items.ts'
import type { FileMemory, Received } from './received.ts'

/** What the rows of a table came to, read as it was chosen. */
export interface Scanned {
  choice: Choice
  past: Past | null
  headings: readonly string[]
  /** The names of the columns. */
  labels: readonly string[]
  rows: number
  columns: ReturnType<typeof createColumns<Candidate>>
  texts: Texts
  items: ReturnType<typeof createItems>
  /** The cell that a column has in every item; null: they differ. */
  constants: readonly (string | null | undefined)[]
}

export function foundIn(scanned: Scanned, received: Received | null): Found {
  const { choice, past, headings, labels, rows, items } = scanned
  const { compared, factors } = comparedIn(scanned)
  const others = otherColumns(choice)
  const columns = headings.map((heading, index): ShownColumn => {
    const old = isCompared(choice, index) ? oldValues(past, heading, index + 1) : undefined
    const isNew = (value: string) => old?.includes(value) === false
    return {
      label: labels[index] ?? '',
      tallies: isCompared(choice, index) ? scanned.columns.tallies(index) : null,
      isNew,
    }
  })
  const constants = scanned.constants.map((cell, index) => others.has(index) && typeof cell === 'string')
  const chosen = chooseRows(items.ranks, columns, past !== null)
  const sent = compared.same + compared.higher + compared.lower + compared.added
  return {
    choice,
    rows,
    items: sent,
    compared,
    constants: labels.flatMap((heading, index) => {
      const cell = scanned.constants[index]
      return constants[index] && isFilled(cell ?? '') ? [{ heading, value: valueIn(cell ?? '') }] : []
    }),
    examples: chosen.map((candidate) => exampleOf(candidate, choice, columns, constants)),
    rejected: items.rejected(),
    box: boxOf(scanned, { compared, factors, received, sent }),
    memory: memoryOf(scanned),
  }
}

/** Whether the values of a column are compared: not those of code, price, name and description. */
const isCompared = ({ code, price, name, description }: Choice, index: number): boolean =>
  ![code, price, name, description].some((column) => column?.number === index + 1)

function comparedIn({ choice, past, headings, labels, columns, texts, items }: Scanned) {
  const { counts, factors } = comparePrices([...items.entries.values()].filter(({ isSent }) => isSent))
  const isThere = (code: string) =>
    items.entries.has(code) || items.notSent.has(code) || items.byHand.has(code)
  const compared: Compared = {
    with: past && { fileName: past.file.fileName, at: past.file.at, isUnfinished: past.isUnfinished },
    ...counts,
    ...goneCodes(past, isThere),
    ...compareTexts(past, texts, (code) => items.entries.get(code)?.isSent === true),
    newValues: headings.flatMap((heading, index) =>
      isCompared(choice, index)
        ? compareValues(labels[index] ?? '', columns.tallies(index), oldValues(past, heading, index + 1))
        : [],
    ),
  }
  return { compared, factors }
}

function boxOf(
  { choice, past, headings, items }: Scanned,
  {
    compared,
    factors,
    received,
    sent,
  }: { compared: Compared; factors: number[]; received: Received | null; sent: number },
): BoxReason[] {
  if (!past) return received?.isOwn ? [] : [{ kind: 'nothingReceived' }]
  const notSent = [...items.notSent].filter((code) => !items.entries.get(code)?.isSent).length
  return [
    ...box.otherChoice(choice, past.file.choice, headings),
    ...box.halfOutside(factors),
    ...box.farOutside(factors),
    ...box.oneFactor(factors),
    ...box.unknownCodes(sent, compared.added),
    ...box.knownNotSent(factors.length + notSent, notSent),
    ...box.newValues(compared.newValues),
  ]
}

/** What is remembered of the file. */
function memoryOf({ choice, headings, columns, texts }: Scanned): FileMemory {
  return {
    headings: headings.map(keptText),
    texts: [...texts.texts.values()].map((one) => ({
      ...one,
      where: keptText(one.where),
      text: keptText(one.text),
    })),
    codesNotSent: [...texts.codes.values()].map(({ code }) => code),
    values: headings.flatMap((heading, index) => {
      const values = columns.tallies(index)?.map(({ value }) => value) ?? null
      return isCompared(choice, index) ? [{ heading: keptText(heading), number: index + 1, values }] : []
    }),
  }
}
