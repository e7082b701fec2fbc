/** Checks a workbook; prints by how much memory grows at most, in bytes. */
import { checkFile } from '../../../../src/features/price-files/check-file.ts'

const { FILE = '' } = process.env
const idle = process.memoryUsage().rss
await checkFile({ path: FILE, itemsPath: `${FILE}.items` })
console.log(JSON.stringify({ above: process.resourceUsage().maxRSS * 1024 - idle }))
