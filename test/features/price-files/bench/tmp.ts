import { createReadStream, readFileSync, writeFileSync } from 'node:fs'
import { parse } from 'csv-parse'
import { openFile } from '/work/wt/model/src/tables/table.ts'
import { readPriceFile } from '/work/wt/model/src/features/price-files/read-price-file.ts'
const itemOf = (row: number) => ({ code: `ITEM-${String(row).padStart(7, '0')}`, name: `Framing timber, 90x45, ${row} mm`, unit: 'each', category: `Range ${row % 9}`, price: (((row * 7919) % 99_999) + 100) / 100 })
const priceFile = (rows: number): string => 'code,name,unit,category,price\n' + Array.from({ length: rows }, (_, row) => { const { code, name, unit, category, price } = itemOf(row); return `${code},"${name}",${unit},${category},${price.toFixed(2)}\n` }).join('')
Error.stackTraceLimit = 0
const mode = process.env.MODE
const n = Number(process.env.ROWS ?? 100000)
const FILE = process.env.FILE ?? '/tmp/wtmodel/prices.csv'
if (mode === 'make') { writeFileSync(FILE, priceFile(n));
 const lines=['Item Code,Name,Description,UOM,RRP,Cost,Barcode,Brand,Status,Group,Pack,Updated']; for (let i=0;i<n;i++) lines.push(`C${i},Item number ${i},Some long description of item ${i} here,${['EA','M','BOX'][i%3]},${(i%977+1.5).toFixed(2)},${(i%977).toFixed(2)},93${1e9+i},Brand ${i%50},Active,G${i%20},${i%5},1/10/2026`); writeFileSync('/tmp/wtmodel/wide.csv', lines.join('\n')); process.exit() }
const draft = FILE.includes('wide') ? { sheet: '', headingsRow: 1, only: [], money: 'AUD before GST', units: 1, decimal: null, code: {heading:'Item Code',number:1}, price: {heading:'RRP', number:5}, name:{heading:'Name',number:2}, unit:{heading:'UOM',number:4} } :
 { sheet: '', headingsRow: 1, only: [], money: 'AUD before GST', units: 1, decimal: null, ...Object.fromEntries(Object.keys(itemOf(0)).map((h,i)=>[h,{heading:h,number:i+1}])) }
let received: any = null
if (mode === 'prepare') {
  const r: any = await readPriceFile(FILE, { draft: draft as any, goOn: true, received: null, leftOut: [], ...(process.env.NOITEMS ? {} : { itemsPath: '/tmp/wtmodel/items' }) })
  const prices = []
  for (let i=0;i<n;i++) prices.push({code: FILE.includes('wide')? `C${i}`: itemOf(i).code, price: 1.5, file: 1})
  received = { revision: '', isUnfinished: false, isOwn: false, files: [{number:1, fileName:'', at:'2026-10-01T00:00:00Z', by:null, choice: r.found.choice, memory: r.found.memory}], prices }
  writeFileSync(FILE+'.json', JSON.stringify(received)); process.exit()
}
if (mode === 'second') received = JSON.parse(readFileSync(FILE+'.json','utf8'))
const before = process.cpuUsage()
if (mode === 'bare') for await (const _ of createReadStream(FILE).pipe(parse()));
else if (mode === 'rows') { const f = await openFile(FILE); for await (const _ of f.sheets[0].rows()); }
else if (mode === 'keep') { const all = []; const f = await openFile(FILE); for await (const b of f.sheets[0].rows()) for (const r of b) all.push(r); console.log(all.length) }
else if (mode === 'prepare') { const r: any = await readPriceFile(FILE, { draft: null, goOn: true, received, leftOut: [], ...(process.env.NOITEMS ? {} : { itemsPath: '/tmp/wtmodel/items' }) }); console.log(r.missing, r.found.items) }
else { const r: any = await readPriceFile(FILE, { draft: draft as any, goOn: true, received: null, leftOut: [], ...(process.env.NOITEMS ? {} : { itemsPath: '/tmp/wtmodel/items' }) }); console.log(r.missing, r.found?.items) }
const { user, system } = process.cpuUsage(before)
console.log(mode, FILE, Math.round((user + system) / 1000), 'ms', Math.round(process.resourceUsage().maxRSS/1024), 'MB')
