/** Checks a workbook, in this process; prints by how much memory grows at most, in bytes. */
import { checkPriceFile } from '../../../../src/features/price-files/check-rows.ts'

const { FILE = '' } = process.env
const idle = process.memoryUsage().rss
await checkPriceFile(FILE, { itemsPath: `${FILE}.items` })
console.log(JSON.stringify({ above: process.resourceUsage().maxRSS * 1024 - idle }))
