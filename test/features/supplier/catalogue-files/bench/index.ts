/** The rows about catalogue files in the table of `npm run bench`: the cost of reading a file, and how long other requests wait. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { parse } from 'csv-parse'
import { compare } from '../../../../../src/features/supplier/catalogue-files/difference.ts'
import { type Item, keyOf } from '../../../../../src/features/supplier/catalogue-files/items.ts'
import { type Add, compare as costs, median } from '../../../../bench/measure.ts'
import { read } from '../support.ts'

const ITEMS = 100_000
/** The sizes in bytes of the chunks in which the file arrives; the last chunk is the rest. */
const CHUNKS = Array<number>(200).fill(65_536)
/** How much longer than in an idle process another request may wait, in ms. */
const MAX_WAIT = 100

const line = (item: number, rise = 0) =>
  `SB-${item},${(item % 999) + 0.95 + rise},"Treated pine ${item}, 90 x 45 H3",,each,Timber\n`
const file = (rise = 0) =>
  `code,price,name,description,unit,category\n${Array.from({ length: ITEMS }, (_, item) => line(item, rise)).join('')}`

async function rightFile(text: string): Promise<Item[]> {
  const items = await read(text, CHUNKS)
  if (items.length !== ITEMS) throw new Error('the file was not read')
  return items
}

/** The longest time for which the event loop was held up while this ran, in ms. */
async function longestWait(work: () => Promise<unknown>): Promise<number> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  await work()
  // The last delay is known only when the timer of the monitor has run again.
  await setTimeout(10)
  delay.disable()
  return delay.max / 1e6
}

export async function bench(add: Add): Promise<void> {
  const text = file()
  const before = await rightFile(file(0.5))
  const received = new Map(before.map((item) => [keyOf(item.code), item]))
  const bare = async () => {
    for await (const _ of Readable.from([text]).pipe(parse()));
  }
  const cost = await costs(1, { call: () => read(text, CHUNKS) }, { call: bare }, 5)
  add('reading a catalogue file of 100,000 items', 'bare csv-parse of the same file', cost, '>= 0.5x')
  const waits: { busy: number; idle: number }[] = []
  for (let round = 0; round < 5; round++)
    waits.push({
      idle: await longestWait(() => setTimeout(500)),
      busy: await longestWait(async () => compare(await rightFile(text), received)),
    })
  const extra = median(waits.map(({ busy, idle }) => busy - idle))
  const measured = { subject: extra, yardstick: MAX_WAIT, ratio: extra / MAX_WAIT }
  const what = 'the longest wait of other requests while 100,000 items are read and compared'
  add(what, 'this much more than in an idle process', measured, '<= 1x', 'ms')
}
