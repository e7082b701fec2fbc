import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Running, startAll } from '../../support/app.ts'
import { connected } from '../../support/flow.ts'
import type { Visitor } from '../../support/visitor.ts'
import { workbook } from '../../support/xlsx.ts'

let app: Running
let visitor: Visitor
beforeEach(async () => {
  app = await startAll()
  visitor = await connected(app, { bxcontext: 'summit-supplies', email: 'priya@summit.example' })
})
afterEach(() => app.close())

const JSON_TYPE = { accept: 'application/json' }
const at = (path: string) => `${app.url}/connections/summit-supplies${path}`

async function createCatalogue(): Promise<string> {
  const form = { name: 'C', scope: 'Public' }
  return (await visitor.post(at('/catalogues'), { form, ...JSON_TYPE })).json().id
}

async function upload(catalogue: string, file: string | Uint8Array, query = '') {
  const headers = { ...JSON_TYPE, 'content-type': 'text/csv' }
  const answer = await visitor.post(at(`/catalogues/${catalogue}/imports${query}`), {
    text: typeof file === 'string' ? file : Buffer.from(file),
    ...JSON_TYPE,
    headers,
  })
  return checked(answer.json().id)
}

/** The import when its check has ended, which on a busy machine may be after the first answer. */
const checked = (id: string) =>
  vi.waitFor(
    async () => {
      const job = (await visitor.get(at(`/imports/${id}`), JSON_TYPE)).json()
      expect(job.state).not.toBe('checking')
      return job
    },
    { timeout: 20_000 },
  )

test('the report of rejected rows, corrected, is read as the file was, without asking again', async () => {
  const id = await createCatalogue()
  const file = 'SKU,Description,Price (inc GST)\nA1,Nail,11\nA2,=Board,n/a\n'
  const asked = await upload(id, file)
  expect(asked.questions).toEqual(['gst'])
  const answered = {
    ...Object.fromEntries(Object.entries(asked.columns).map(([k, v]) => [k, String(v)])),
    gst: '10',
  }
  await visitor.post(at(`/imports/${asked.id}/columns`), { form: answered, ...JSON_TYPE })
  await checked(asked.id)
  const report = (await visitor.get(at(`/imports/${asked.id}/report.csv`))).text
  expect(report).toContain("'=Board")
  const corrected = await upload(id, report.replace(/"n\/a"\s*$/, '"22.00"'), `?corrects=${asked.id}`)
  expect(corrected.problems).toEqual([])
  expect(corrected).toMatchObject({
    questions: [],
    invalidRows: 0,
    preview: [{ code: 'A2', name: '=Board', price: 20 }],
  })
})

test('the report has all cells of rows that contradict each other, and a report of a report has them once', async () => {
  const id = await createCatalogue()
  const reportOf = async (job: { id: string }) =>
    (await visitor.get(at(`/imports/${job.id}/report.csv`))).text.replaceAll('"', '').trim().split('\r\n')
  const file = await upload(id, 'code,name,price\nA1,Nail,1\nB2,Bolt,2\nA1,Nail,3\n')
  const report = await reportOf(file)
  const reason = 'has another price or unit on line'
  expect(report.slice(1)).toEqual([
    expect.stringMatching(`^2,.*${reason} 4, so neither is sent.,A1,Nail,1$`),
    expect.stringMatching(`^4,.*${reason} 2, so neither is sent.,A1,Nail,3$`),
  ])
  // Whatever the headings of its first two columns are: the report may have been in another language.
  const corrected = 'Zeile,Grund,code,name,price\n2,x,A1,Nail,n/a\n'
  const again = await upload(id, corrected, `?corrects=${file.id}`)
  expect(await reportOf(again)).toEqual([
    expect.stringMatching(/^.?Line,Reason,code,name,price$/),
    expect.stringMatching(/^2,.*,A1,Nail,n\/a$/),
  ])
  const twice = await upload(id, corrected.replace('n/a', '7'), `?corrects=${again.id}`)
  expect(twice.preview).toEqual([{ code: 'A1', name: 'Nail', price: 7 }])
})

test('the report has the cells of a row in full, however long and many they are', async () => {
  const id = await createCatalogue()
  const description = 'Nail, galvanised. '.repeat(25).trim()
  const empty = ','.repeat(60)
  const file = await upload(
    id,
    `code,name${empty}price,unit\nA1,"${description}"${empty}1.5.0,ea\nB1,Bolt${empty}1,ea\nB1,"${description}"${empty}2,ea\n`,
  )
  const report = (await visitor.get(at(`/imports/${file.id}/report.csv`))).text
  expect(report.match(/galvanised/g)).toHaveLength(50)
  const corrected = await upload(
    id,
    report
      .replaceAll('"1.5.0"', '"1.50"')
      .replace('"2","ea"', '"1","ea"')
      .replace('"Bolt"', `"${description}"`),
    `?corrects=${file.id}`,
  )
  expect(corrected.preview).toEqual([
    { code: 'A1', name: description, price: 1.5, unit: 'ea' },
    { code: 'B1', name: description, price: 1, unit: 'ea' },
  ])
})

const CORRECTED = { questions: [], validRows: 2, preview: [{ code: 'A1' }, { price: 7 }] }

test.each<[headings: string, csv: string, answers: Record<string, string>, ofFile: object]>([
  ['formulas', '=SKU,Name,-Price\nA1,Nail,1\nA2,Board,n/a\n', {}, CORRECTED],
  ['two rows', 'SKU,Name,Price,\n,,Trade,Retail\nA1,Nail,1,2\nA2,Board,n/a,3\n', { price: '2' }, CORRECTED],
  [
    'none',
    'A1,Nail,1\nA2,Board,n/a\n',
    { headingsLine: '0' },
    // Without headings, the file itself cannot be told from another one.
    { state: 'unreadable', validRows: 0 },
  ],
])('headings that are %s are found again in the report', async (_headings, csv, answers, ofFile) => {
  const id = await createCatalogue()
  const first = await upload(id, csv)
  const choose = { code: '0', name: '1', price: '2' }
  await visitor.post(at(`/imports/${first.id}/columns`), { form: answers, ...JSON_TYPE })
  await checked(first.id)
  await visitor.post(at(`/imports/${first.id}/columns`), { form: { ...choose, ...answers }, ...JSON_TYPE })
  expect(await checked(first.id)).toMatchObject({ questions: [], validRows: 1, invalidRows: 1 })
  const report = (await visitor.get(at(`/imports/${first.id}/report.csv`))).text
  const fromReport = await upload(id, report.replaceAll('n/a', '7'), `?corrects=${first.id}`)
  expect(fromReport).toMatchObject({ questions: [], preview: [{ code: 'A2', name: 'Board', price: 7 }] })
  expect(await upload(id, csv.replace('n/a', '7'), `?corrects=${first.id}`)).toMatchObject(ofFile)
})

test('a row of the report that includes tax is asked about, as it would be in the first row of a file', async () => {
  const id = await createCatalogue()
  const rows = Array.from({ length: 60 }, (_, row) => `B${row},1,Excl`).join('\n')
  const first = await upload(id, `SKU,Price,GST\n${rows}\nA1,n/a,Excl\nA2,11,Incl\n`)
  expect(first).toMatchObject({ questions: [], validRows: 60, invalidRows: 2 })
  const report = (await visitor.get(at(`/imports/${first.id}/report.csv`))).text
  const corrected = await upload(id, report.replaceAll('n/a', '7'), `?corrects=${first.id}`)
  expect(corrected.questions).toEqual(['gst'])
})

test('a file with open questions, or one that could not be read, is not corrected', async () => {
  const id = await createCatalogue()
  const csv = 'SKU,Price (inc GST)\nA1,11\n'
  for (const file of [await upload(id, csv), await upload(id, 'SKU,Price\n')]) {
    const answer = await visitor.post(at(`/catalogues/${id}/imports?corrects=${file.id}`), {
      text: csv,
      headers: { ...JSON_TYPE, 'content-type': 'text/csv' },
    })
    expect(answer.status).toBe(409)
    expect(answer.text).toContain('open questions')
  }
})

test('a workbook that is corrected is read on the sheet that was chosen', async () => {
  const id = await createCatalogue()
  const headings = ['SKU', 'Price']
  const prices = (price: string | number) =>
    workbook([
      { name: 'Last year', rows: [headings, ['A1', 5], ['A2', 5]] },
      { name: 'New', rows: [headings, ['A1', price], ['A2', 2]] },
    ])
  const first = await upload(id, prices('n/a'))
  expect(first.questions).toEqual(['sheet'])
  const form = { code: '0', price: '1', sheet: 'New' }
  await visitor.post(at(`/imports/${first.id}/columns`), { form, ...JSON_TYPE })
  expect(await checked(first.id)).toMatchObject({ questions: [], validRows: 1 })
  expect(await upload(id, prices(3), `?corrects=${first.id}`)).toMatchObject({
    questions: [],
    preview: [{ price: 3 }, { price: 2 }],
  })
})

test('the sample file of the demo has good rows and rows with problems', async () => {
  const id = await createCatalogue()
  const sample = new URL('../../../src/features/price-files/sample/', import.meta.url)
  const csv = await upload(id, readFileSync(new URL('price-list.csv', sample), 'utf8'))
  expect(csv).toMatchObject({ questions: [], validRows: 5, invalidRows: 5 })
})

test('the file itself, corrected, is read as it was; another one is refused, and no column is taken for a price', async () => {
  const id = await createCatalogue()
  const file = (price: string) =>
    `SKU,Name,Barcode,Price ex GST,Stock\nA1,Nail,930,11,200\nA2,Board,931,${price},100\n`
  const first = await upload(id, file('n/a'))
  const corrected = await upload(id, file('22'), `?corrects=${first.id}`)
  expect(corrected).toMatchObject({
    questions: [],
    preview: [
      { code: 'A1', price: 11 },
      { code: 'A2', price: 22 },
    ],
  })
  const other = await upload(
    id,
    'SKU,Barcode,Name,Price ex GST,Stock\nA1,930,Nail,11,200\n',
    `?corrects=${first.id}`,
  )
  expect(other).toMatchObject({ state: 'unreadable', validRows: 0 })
  expect(other.failure).toContain('Upload the report with its headings')
})
