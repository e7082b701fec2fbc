/** Price files of months: what was sent of one is what the next one is compared with. */
import { batchCount, type Item, readBatch } from '../../../../../src/features/supplier/price-files/batches.ts'
import type { Draft } from '../../../../../src/features/supplier/price-files/choice.ts'
import type { Found, Outline, Reading } from '../../../../../src/features/supplier/price-files/found.ts'
import { readPriceFile } from '../../../../../src/features/supplier/price-files/read-price-file.ts'
import { afterSending, type Received } from '../../../../../src/features/supplier/price-files/received.ts'
import { tempDir } from '../../../../support/env.ts'
import { workbook } from '../xlsx.ts'

export type Content = string | Uint8Array

/** Reads a file in this process, with its items. */
export async function read(
  content: Content,
  options: { draft?: Draft; goOn?: boolean; received?: Received | null; leftOut?: string[] } = {},
) {
  const { draft = null, goOn = draft !== null, received = null, leftOut = [] } = options
  const { write, remove } = tempDir()
  try {
    const path = write(content)
    const itemsPath = `${path}.items`
    const reading = await readPriceFile(path, { draft, goOn, received, leftOut, itemsPath })
    const items: Item[] = []
    for (let index = 0; index < batchCount(reading.found?.items ?? 0); index++)
      items.push(...JSON.parse(String(await readBatch(itemsPath, index))).items)
    return { ...reading, items }
  } finally {
    remove()
  }
}

/** Page one as it is suggested, with other answers: uses and ticked values by the heading of the column. */
export interface Answers
  extends Partial<Pick<Draft, 'sheet' | 'headingsRow' | 'money' | 'units' | 'decimal'>> {
  uses?: Record<string, Outline['columns'][number]['use'] | { only: string[] } | { taxed: string[] }>
}

/** The draft that page one says when these answers have been given. */
export function draftOf(outline: Outline, { uses = {}, ...answers }: Answers = {}): Draft {
  const draft: Draft = {
    sheet: outline.sheet,
    headingsRow: outline.headingsRow,
    only: [],
    money: 'AUD before GST',
    units: 1,
    decimal: null,
    ...answers,
  }
  for (const { heading, number, use } of outline.columns) {
    const answer = uses[heading] ?? uses[number] ?? use
    const column = { heading, number }
    if (typeof answer === 'object') {
      if ('only' in answer) draft.only.push({ ...column, values: answer.only })
      else draft.taxed = { ...column, values: answer.taxed }
    } else if (answer !== 'ignored' && answer !== 'only' && answer !== 'taxed') draft[answer] = column
  }
  return draft
}

/** Reads a file as a person chooses who gives these answers. */
export async function choose(content: Content, answers: Answers = {}, received: Received | null = null) {
  const { sheet, headingsRow } = answers
  const first = await read(content)
  const isOther = sheet !== undefined || headingsRow !== undefined
  const draft = draftOf(first.outline, { ...answers, uses: {} })
  const { outline } = isOther
    ? await read(content, { draft: { ...draft, code: undefined, price: undefined }, goOn: false })
    : first
  return read(content, { draft: draftOf(outline, answers), received })
}

/** Page two. Throws what is missing. */
export function foundIn({ found, missing }: Pick<Reading, 'found' | 'missing'>): Found {
  if (!found) throw new Error(`page one: ${JSON.stringify(missing)}`)
  return found
}

/** What a catalogue has received when all items of a reading have been sent. */
export function send(
  reading: Reading & { items: Item[] },
  received: Received | null = null,
  at = '2026-10-01T00:00:00.000Z',
): Received {
  const { choice, memory } = foundIn(reading)
  const file = { fileName: 'prices.csv', at, by: null, choice, memory }
  return afterSending(received, { ...file, items: reading.items, isComplete: true })
}

/** The items of a reading as `CODE=PRICE`; of page one, the kinds of what is missing. */
export const itemsIn = ({ found, items, missing }: Awaited<ReturnType<typeof read>>): string =>
  (found ? items.map(({ code, price }) => `${code}=${price}`) : missing.map(({ kind }) => kind)).join(' ')

/** A workbook of sheets, each of which is given as the lines of a text; the name of a hidden one begins with a dot. */
export const bookOf = (sheets: Record<string, string>, parts: Record<string, string> = {}): Uint8Array =>
  workbook(
    Object.entries(sheets).map(([name, text]) => ({
      name,
      hidden: name.startsWith('.'),
      rows: text
        .split('\n')
        .map((line) => line.split(',').map((cell) => (/^\d+(\.\d+)?$/.test(cell) ? Number(cell) : cell))),
    })),
    { parts },
  )
