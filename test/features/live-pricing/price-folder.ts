import { createWriteStream, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri']

export interface FolderSize {
  items: number
  stores: number
}

export const itemCode = (number: number) => `IT-${1_000_000 + number}`
export const storeId = (number: number) => `ST-${number}`
/** Where the stores of a folder are: all over Australia. */
export const placeOf = (number: number) => ({
  latitude: -38 + ((number * 7919) % 2600) / 100,
  longitude: 114 + ((number * 104_729) % 3900) / 100,
})

/**
 * Writes the CSV files of a large price list: every 20th item has a price of its own at one store, every tenth
 * category a discount for members.
 */
export async function writePriceFolder(dir: string, { items, stores }: FolderSize): Promise<void> {
  const numbers = (count: number) => Array.from({ length: count }, (_, number) => number)
  const table = (name: string, lines: string[]) => writeFileSync(join(dir, name), `${lines.join('\n')}\n`)
  table('stores.csv', [
    'id,name,latitude,longitude,time_zone,suburb,state',
    ...numbers(stores).map((number) => {
      const { latitude, longitude } = placeOf(number)
      return `${storeId(number)},Store ${number},${latitude},${longitude},Australia/Sydney,Somewhere,NSW`
    }),
  ])
  table('hours.csv', [
    'store,day,opens,closes',
    ...numbers(stores).flatMap((number) => DAYS.map((day) => `${storeId(number)},${day},07:00,17:00`)),
  ])
  const priced = numbers(Math.ceil(items / 20)).map((number) => number * 20)
  table('prices.csv', [
    'item,store,price',
    ...priced.map((number) => `${itemCode(number)},${storeId(number % stores)},9.95`),
  ])
  table('members.csv', ['number,group', 'CUST1001,trade'])
  table('discounts.csv', ['category,group,percent', ...(items > 100 ? ['Range 3,trade,10'] : [])])
  const lines = function* () {
    yield 'code,name,unit,category,price\n'
    for (let number = 0; number < items; number += 1000) {
      const end = Math.min(items, number + 1000)
      yield numbers(end - number)
        .map((at) => rowOf(number + at))
        .join('')
    }
  }
  await pipeline(Readable.from(lines()), createWriteStream(join(dir, 'items.csv')))
}

function rowOf(number: number): string {
  const price = ((number * 7919) % 100_000) / 100
  return `${itemCode(number)},Framing timber 90 x 45 mm grade ${number % 97},each,Range ${number % 10},${price}\n`
}
