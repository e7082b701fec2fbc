/** What a catalogue received from here: the codes and prices of its files, merged, and the other texts of the last files. Pure. */
import * as z from 'zod'
import { choiceSchema } from './choice.ts'

/**
 * A text of a file. `where`: the headings of its columns, or the kind of text; empty if it is in the first column. A row that has
 * a `code` is compared by its code, so that figures in the row do not count.
 */
const placedTextSchema = z.object({
  where: z.string(),
  text: z.string(),
  row: z.number().nullable(),
  code: z.string(),
})
export type PlacedText = z.infer<typeof placedTextSchema>

/** What is remembered of a file beside its items, each text as `keptText` writes it. */
const memorySchema = z.object({
  headings: z.array(z.string()),
  texts: z.array(placedTextSchema),
  /** The values of each column that is none of code, price, name and description; null if there are too many to remember. */
  values: z.array(
    z.object({ heading: z.string(), number: z.number(), values: z.array(z.string()).nullable() }),
  ),
})
export type FileMemory = z.infer<typeof memorySchema>

/** Who sent a file; null if this user has been deleted. */
export const senderSchema = z
  .union([z.object({ userId: z.string(), bxcontext: z.string() }), z.literal('command line')])
  .nullable()

/** A file that was sent, who sent it, and how it was read. */
const sentFileSchema = z.object({
  /** The files of a catalogue are numbered from 1. */
  number: z.int().positive(),
  fileName: z.string(),
  at: z.iso.datetime(),
  by: senderSchema,
  choice: choiceSchema,
  memory: memorySchema,
})
export type SentFile = z.infer<typeof sentFileSchema>

/** How many files are remembered, at most one for each set of headings: the last one. */
export const MAX_FILES = 5
/** A code that was in none of this many last files is forgotten. */
export const FORGOTTEN_AFTER = 24
/** The most codes that are remembered. If there are more, those that were sent longest ago are forgotten. */
export const MAX_CODES = 200_000

/** A price that the catalogue received, in dollars before tax. `file`: the number of the last file that had the code. */
const receivedPriceSchema = z.object({ code: z.string(), price: z.number(), file: z.number() })
export type ReceivedPrice = z.infer<typeof receivedPriceSchema>

export const receivedSchema = z.object({
  /** Whether the last import did not complete. */
  isUnfinished: z.boolean(),
  /** The last file first, at most one for the same headings. */
  files: z.array(sentFileSchema),
  prices: z.array(receivedPriceSchema),
})

/** What a catalogue received. `isOwn`: this app created it, so everything in it is from here. */
export interface Received extends z.infer<typeof receivedSchema> {
  isOwn: boolean
}

/** A file of which the platform has accepted items. */
export interface Sent extends Omit<SentFile, 'number'> {
  items: Iterable<Pick<ReceivedPrice, 'code' | 'price'>>
  /** Whether its import was completed. */
  isComplete: boolean
}

/** What a catalogue has received after a file was sent, as far as the platform has accepted it. The same file again (`at`) changes nothing. */
export function afterSending(received: Received | null, { items, isComplete, ...file }: Sent): Received {
  const before: Received = received ?? { isUnfinished: false, files: [], prices: [], isOwn: false }
  const last = before.files[0]
  const number = last?.at === file.at ? last.number : (last?.number ?? 0) + 1
  const prices = new Map(before.prices.map((one) => [one.code.toLowerCase(), one]))
  let accepted = 0
  for (const { code, price } of items) {
    // A code that comes again is deleted first, so that it moves to the end, where the latest codes are.
    prices.delete(code.toLowerCase())
    prices.set(code.toLowerCase(), { code, price, file: number })
    accepted++
  }
  // If the platform has accepted nothing of a file, nothing of it is remembered.
  if (accepted === 0 && !isComplete) return { ...before, isUnfinished: true }
  const headings = file.memory.headings.join('\n')
  const others = before.files.filter(({ memory }) => memory.headings.join('\n') !== headings)
  const kept = [...prices.values()].filter((one) => number - one.file < FORGOTTEN_AFTER)
  return {
    ...before,
    isUnfinished: !isComplete,
    files: [{ ...file, number }, ...others].slice(0, MAX_FILES),
    prices: kept.slice(-MAX_CODES),
  }
}
