/**
 * Reads a price file as its layout says, or only its rows, or those in a bare loop of csv-parse. Prints its CPU time in ms, and its
 * peak memory in bytes.
 */
import { createReadStream } from 'node:fs'
import { parse } from 'csv-parse'
import { checkPriceFile } from '../../../../src/features/price-files/check-rows.ts'
import { openFile } from '../../../../src/tables/table.ts'
import { draftOf } from '../read-support.ts'

const { FILE = '', WHAT } = process.env
const draft = draftOf(await checkPriceFile(FILE))
const before = process.cpuUsage()
if (WHAT === 'bare') for await (const _ of createReadStream(FILE).pipe(parse()));
else if (WHAT === 'rows') for await (const _ of (await openFile(FILE)).sheets[0]?.rows() ?? []);
else await checkPriceFile(FILE, { draft, itemsPath: `${FILE}.items` })
const { user, system } = process.cpuUsage(before)
console.log(JSON.stringify({ ms: (user + system) / 1000, bytes: process.resourceUsage().maxRSS * 1024 }))
