import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri']

export const itemCode = (number: number) => `IT-${1_000_000 + number}`
export const storeId = (number: number) => `ST-${number}`
const numbers = (count: number) => Array.from({ length: count }, (_, number) => number)

/**
 * Writes the CSV files of a large price list: every 20th item has a price of its own at one store, every tenth
 * category a discount for members.
 */
export async function writePriceFolder(
  dir: string,
  { items, stores }: { items: number; stores: number },
): Promise<void> {
  const table = (name: string, lines: string[]) => writeFileSync(join(dir, name), `${lines.join('\n')}\n`)
  table('stores.csv', [
    'id,name,latitude,longitude,time_zone,suburb,state',
    ...numbers(stores).map(
      (number) => `${storeId(number)},Store ${number},-38,145,Australia/Sydney,Somewhere,NSW`,
    ),
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
  table('discounts.csv', ['category,group,percent', 'Range 3,trade,10'])
  table('items.csv', ['code,name,unit,category,price', ...numbers(items).map(rowOf)])
}

function rowOf(number: number): string {
  const price = ((number * 7919) % 100_000) / 100
  return `${itemCode(number)},Framing timber 90 x 45 mm grade ${number % 97},each,Range ${number % 10},${price}`
}
