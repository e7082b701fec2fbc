/** Reads a price file as its layout says, or in a bare loop of csv-parse. Prints its CPU time in ms, and its peak memory in bytes. */
import { createReadStream } from 'node:fs'
import { parse } from 'csv-parse'
import { checkPriceFile } from '../../../../src/features/price-files/check-rows.ts'
import { draftOf } from '../read-support.ts'

const { FILE = '', BARE } = process.env
// As the process has it that reads files of users.
Error.stackTraceLimit = 0
const draft = draftOf(await checkPriceFile(FILE))
const before = process.cpuUsage()
if (BARE) for await (const _ of createReadStream(FILE).pipe(parse()));
else await checkPriceFile(FILE, { draft, itemsPath: `${FILE}.items` })
const { user, system } = process.cpuUsage(before)
console.log(JSON.stringify({ ms: (user + system) / 1000, bytes: process.resourceUsage().maxRSS * 1024 }))
