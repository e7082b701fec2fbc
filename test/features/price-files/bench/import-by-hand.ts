/** A price file to the platform in a bare loop: csv-parse, map, JSON.stringify, undici. Prints ms and peak memory. */
import { createReadStream } from 'node:fs'
import { parse } from 'csv-parse'
import { Agent, request } from 'undici'

const { FILE = '', PLATFORM_API_URL = '' } = process.env
const started = performance.now()
const dispatcher = new Agent()
const headers = { authorization: 'Bearer token', 'content-type': 'application/json' }
const send = async (items: unknown[]) => {
  const body = JSON.stringify({ items })
  const url = `${PLATFORM_API_URL}/catalogues/1/import/b/items`
  const answer = await request(url, { method: 'POST', dispatcher, headers, body })
  await answer.body.text()
  if (answer.statusCode !== 200) throw new Error(String(answer.statusCode))
}
let items: unknown[] = []
let first = true
for await (const [code, name, unit, category, price] of createReadStream(FILE).pipe(parse())) {
  if (first) {
    first = false
    continue
  }
  items.push({ code, name, unit, category, price: Number(price) })
  if (items.length < 1000) continue
  await send(items)
  items = []
}
if (items.length > 0) await send(items)
console.log(JSON.stringify({ ms: performance.now() - started, peak: process.resourceUsage().maxRSS }))
await dispatcher.close()
