/** Price files of months: what was sent of one is what the next one is compared with. */
import { batchCount, type Item, readBatch } from '../../../../../src/features/supplier/price-files/batches.ts'
import type { Draft } from '../../../../../src/features/supplier/price-files/choice.ts'
import type { Found, Outline, Reading } from '../../../../../src/features/supplier/price-files/found.ts'
import { readPriceFile } from '../../../../../src/features/supplier/price-files/read-price-file.ts'
import { afterSending, type Received } from '../../../../../src/features/supplier/price-files/received.ts'
import type { Use } from '../../../../../src/features/supplier/price-files/uses.ts'
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

/** Other answers than page one fills in: uses, with the values that are ticked, by the heading or the number of the column. */
export interface Answers extends Partial<Omit<Draft, 'columns'>> {
  uses?: Record<string, Use | ['only' | 'taxed', ...string[]]>
}

/** The draft that page one says when these answers have been given; prices are in Australian dollars before GST. */
export function draftOf(outline: Outline, { uses = {}, ...answers }: Answers = {}): Draft {
  const { sheet, headingsRow, units, decimal } = outline
  const columns = outline.columns.flatMap(({ heading, number, ...filled }) => {
    const answer = uses[heading] ?? uses[number] ?? [filled.use, ...filled.ticked]
    const [use, ...values] = typeof answer === 'string' ? [answer] : answer
    if (use === 'ignored') return []
    return [{ heading, number, use, ...((use === 'only' || use === 'taxed') && { values }) }]
  })
  const money = outline.money ?? 'AUD before GST'
  return { sheet, headingsRow, units, decimal, money, ...answers, columns }
}

/** Reads a file as a person chooses who gives these answers. */
export async function choose(content: Content, answers: Answers = {}, received: Received | null = null) {
  const { outline } = await read(content)
  const { sheet = outline.sheet, headingsRow = outline.headingsRow } = answers
  const other = { ...draftOf(outline), sheet, headingsRow, columns: [] }
  const isOther = sheet !== outline.sheet || headingsRow !== outline.headingsRow
  const shown = isOther ? (await read(content, { draft: other, goOn: false })).outline : outline
  return read(content, { draft: draftOf(shown, answers), received })
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
  at = new Date(Date.UTC(2026, 9, 1, 0, 0, received?.files[0]?.number ?? 0)).toISOString(),
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
