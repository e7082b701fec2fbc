/**
 * Reads a price file as its last one was chosen, and compares it with that; or only its rows, or those in a bare loop of csv-parse.
 * Prints its CPU time in ms, and its peak memory in bytes.
 */
import { createReadStream, readFileSync } from 'node:fs'
import { parse } from 'csv-parse'
import { readPriceFile } from '../../../../../src/features/supplier/price-files/read-price-file.ts'
import type { Received } from '../../../../../src/features/supplier/price-files/received.ts'
import { openFile } from '../../../../../src/features/supplier/tables/table.ts'

const { FILE = '', RECEIVED = '', WHAT } = process.env
const received: Received = JSON.parse(readFileSync(RECEIVED, 'utf8'))
const before = process.cpuUsage()
if (WHAT === 'bare') for await (const _ of createReadStream(FILE).pipe(parse()));
else if (WHAT === 'rows') for await (const _ of (await openFile(FILE)).sheets[0]?.rows() ?? []);
else {
  const options = { draft: null, goOn: true, received, leftOut: [], itemsPath: `${FILE}.items` }
  const { found } = await readPriceFile(FILE, options)
  if (found?.compared.lower !== 100_000) throw new Error('the file was not compared')
}
const { user, system } = process.cpuUsage(before)
console.log(JSON.stringify({ ms: (user + system) / 1000, bytes: process.resourceUsage().maxRSS * 1024 }))
