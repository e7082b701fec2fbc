import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { ALL_USERS } from '../../../src/features/price-files/import-job.ts'
import { workbook } from '../../support/xlsx.ts'
import { keyOf, type Pages, startPages } from './pages-support.ts'

let pages: Pages
beforeAll(async () => {
  pages = await startPages()
})
afterAll(() => pages.close())

const choose = async (id: string, form: Record<string, string>) =>
  pages.checked((await pages.act(id, 'columns', form)).json())

test('choices are remembered for the next file with the same headings, and can be undone', async () => {
  const file = (code: string) => `Code,List price,RRP inc GST\n${code},10,11\n`
  const first = await pages.upload(file('A'))
  expect(first.json).toMatchObject({ questions: ['columns'], choices: null })
  const asked = await choose(first.json.id, { code: '0', price: '2', headingsLine: '1' })
  expect(asked).toMatchObject({ questions: ['gst'] })
  const answered = await choose(first.json.id, { code: '0', price: '2', gst: '10' })
  expect(answered).toMatchObject({ questions: [], preview: [{ code: 'A', price: 10 }], gst: 10 })

  const next = await pages.upload(file('B'))
  expect(next.json).toMatchObject({
    questions: [],
    preview: [{ code: 'B', price: 10 }],
    remarks: ['The choices are those of your last file with the same headings.'],
  })
  await choose(next.json.id, {})
  expect((await pages.upload(file('C'))).json).toMatchObject({ questions: ['columns'], choices: null })
})

test('another row of headings, and another sheet, can be chosen; columns chosen before do not count', async () => {
  const sheet = (name: string, ...rows: (string | number)[][]) => ({ name, rows })
  const file = workbook([
    sheet('Cover', ['Summit Supplies'], ['Price list 2026']),
    sheet('Prices', ['Ours', 'Code'], ['Code', 'Price'], ['A', 1.5]),
  ])
  const { json } = await pages.upload(Buffer.from(file))
  // The cover has no headings.
  expect(json).toMatchObject({ sheet: 'Prices', sheets: ['Cover', 'Prices'] })
  expect(await choose(json.id, { sheet: 'Cover' })).toMatchObject({ sheet: 'Cover', questions: ['columns'] })
  const onSheet = await choose(json.id, { sheet: 'Prices', code: '0', headingsLine: '1' })
  expect(onSheet).toMatchObject({ sheet: 'Prices', headingsLine: 2, preview: [{ code: 'A', price: 1.5 }] })
  expect(await choose(json.id, { sheet: 'Prices', headingsLine: '1' })).toMatchObject({
    headings: ['Ours', 'Code'],
    columns: { code: 1 },
  })
})

test('after an answer about the code, a note about the prices is still asked about', async () => {
  const { json } = await pages.upload('Trade price list,,\nOur ref,Name,Price\nA,Bolt,9\n')
  expect(json.mappingErrors).toEqual([expect.stringContaining('as the code')])
  const form = { code: '0', name: '1', price: '2', headingsLine: '2' }
  const asked = await choose(json.id, form)
  expect(asked.mappingErrors).toEqual([expect.stringContaining('Trade price list')])
  expect(await choose(json.id, form)).toMatchObject({ questions: [], preview: [{ code: 'A', price: 9 }] })
})

test('two sheets with other prices for the same items: the user is asked once which one is sent', async () => {
  const sheet = (name: string, price: number) => ({
    name,
    rows: [
      ['Code', 'Price'],
      ['A', price],
    ],
  })
  const list = [sheet('2025', 1), sheet('2026', 2)]
  const question =
    'The sheets "2025" and "2026" have the same items at different prices: choose the sheet to send.'
  const cover = { name: 'Cover', rows: [] }
  for (const { sheets, chosen, price } of [
    { sheets: list, chosen: '2025', price: 1 },
    { sheets: list, chosen: '2026', price: 2 },
    { sheets: [cover, ...list], chosen: '2025', price: 1 },
  ]) {
    const { json } = await pages.upload(Buffer.from(workbook(sheets)))
    expect(json).toMatchObject({ sheet: '2025', questions: ['sheet'], mappingErrors: [question] })
    expect(await choose(json.id, { sheet: chosen, code: '0', price: '1' })).toMatchObject({
      questions: [],
      preview: [{ code: 'A', price }],
    })
    await choose(json.id, {})
  }
  const same = await pages.upload(Buffer.from(workbook([sheet('Taps', 1), sheet('All', 1)])))
  expect(same.json).toMatchObject({ questions: [] })
})

test.each<[Record<string, string>, string]>([
  [{ headingsLine: '-1' }, 'headingsLine'],
  [{ decimal: 'dot' }, 'decimal'],
  [{ gst: '100' }, 'gst'],
  [{ price: 'x' }, 'price'],
])('%j is rejected, and names the field', async (form, field) => {
  const { json } = await pages.upload('code,price\nA,1\n')
  expect((await pages.act(json.id, 'columns', form)).json()).toMatchObject({
    status: 400,
    code: 'invalid_input',
    field,
  })
})

test('before sending, the page compares the file with the last one', async () => {
  const to = await pages.newCatalogue('Monthly')
  const first = await pages.upload('code,price\nA,1\nB,2\nC,3\nE,10\n', { to })
  await pages.act(first.json.id, 'start')
  await pages.ended(first.json.id)
  const next = await pages.upload('code,price\nA,1\nD,4\nE,1000\n', { to })
  const remark =
    'Compared with your last file for this catalogue: 1 new, 1 with another price (1 of them by more than 20%), 2 missing.'
  expect(next.json.remarks).toEqual([expect.stringContaining(remark)])
  expect(next.json.comparison?.largest).toEqual([{ code: 'E', before: 10, now: 1000 }])
  const page = await pages.visitor.get(pages.urlOf(next.json.id))
  expect(page.text).toContain(remark)
  expect(page.text).toMatch(
    /E<\/th>\s*<td[^>]*>\$10\.00<\/td>\s*<td[^>]*>\$1,000\.00<\/td>\s*<td[^>]*>\+9,900%/,
  )
  // Until the questions of a file are answered, its items are not known.
  const asks = await pages.upload('code,price inc GST\nA,1\nD,4\n', { to })
  expect(asks.json.questions).toEqual(['gst'])
  expect(asks.json.remarks).toEqual([])
})

test('a remembered decimal sign is used only for a file that asks for it', async () => {
  const file = (...prices: string[]) =>
    `Item No,List price inc GST\n${prices.map((price, row) => `A${row},"${price}"`).join('\n')}\n`
  const { json } = await pages.upload(file('1,250', '2,350'))
  const columns = { code: '0', price: '1', gst: '0' }
  expect(await choose(json.id, columns)).toMatchObject({ questions: ['decimal'] })
  await choose(json.id, { ...columns, decimal: 'comma' })
  const next = await pages.upload(file('1,250', '2,350.00'))
  expect(next.json.preview.map(({ price }) => price)).toEqual([1250, 2350])
  expect(next.json.invalidRows).toBe(0)
})

test('a file that another tab reads in another way is not sent', async () => {
  const { json } = await pages.upload('Stock code,Retail incl GST\nA,11\n')
  await choose(json.id, { code: '0', price: '1', gst: '10' })
  const seen =
    /name="readAs" value="(\w+)"/.exec((await pages.visitor.get(pages.urlOf(json.id))).text)?.[1] ?? ''
  await choose(json.id, { code: '0', price: '1', gst: '0' })
  expect((await pages.act(json.id, 'start', { readAs: seen })).json()).toMatchObject({
    status: 409,
    code: 'conflict',
  })
  expect((await pages.jobOf(json.id)).state).toBe('ready')
})

test('an interrupted check is resumed with the answers of its user', async () => {
  const { json } = await pages.upload('Part No,RRP incl GST\nA,11\n')
  await choose(json.id, { code: '0', price: '1', gst: '10' })
  const { store } = pages.app.services
  const record = JSON.parse((await store.get(keyOf(json.id))) ?? '')
  await store.set(keyOf(json.id), JSON.stringify({ ...record, state: 'checking' }))
  await store.delete({ kind: 'import-lease', owner: 'sam', id: json.id })
  expect((await pages.visitor.get(pages.urlOf(json.id))).text).toContain('was interrupted')
  expect(await choose(json.id, { resume: 'on' })).toMatchObject({ state: 'ready', gst: 10, questions: [] })
})

test('a wrong row or sheet can be corrected on the page', async () => {
  const { json } = await pages.upload('code,price\nA,1\n')
  expect(await choose(json.id, { headingsLine: '9' })).toMatchObject({ state: 'unreadable', invalidRows: 0 })
  const { text } = await pages.visitor.get(pages.urlOf(json.id))
  expect(text).toMatch(/Choose another row or sheet[\s\S]*name="headingsLine"/)
  expect(await choose(json.id, { headingsLine: '1' })).toMatchObject({ state: 'ready', validRows: 1 })
})

test('a discarded import leaves nothing to take over', async () => {
  const { json } = await pages.upload('code,price\nA,1\n')
  await pages.app.fault('items', '500', undefined, 1)
  await pages.act(json.id, 'start')
  await pages.waiting(json.id)
  await pages.act(json.id, 'discard')
  await pages.app.fault('items', 'none')
  const marks = await pages.app.services.store.list('active-import', ALL_USERS)
  expect(marks.map(({ key }) => key.id)).not.toContain(json.id)
})

test('a title that raises a doubt asks one question, which one press answers', async () => {
  const csv = 'Trade price list\n\ncode,price inc GST\nA,11\n'
  const { json } = await pages.upload(csv)
  expect(json).toMatchObject({ isPriceDoubtful: true, questions: ['columns', 'gst'], columns: { price: 1 } })
  const withoutTax = await choose(json.id, { gst: '10' })
  expect(withoutTax.mappingErrors).toEqual([
    'The file says "Trade price list" (a row above the headings). Does "price inc GST" have the recommended retail price of one unit in dollars?',
  ])
  const { text } = await pages.visitor.get(pages.urlOf(json.id))
  const form = /<form[^>]*>(?:(?!<\/form>)[\s\S])*Yes, these are the prices/.exec(text)?.[0] ?? ''
  const fields = [...form.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [name, value])
  // The answer about GST is kept.
  expect(fields).toContainEqual(['gst', '10'])
  const answered = await choose(json.id, Object.fromEntries(fields))
  expect(answered).toMatchObject({
    isPriceDoubtful: false,
    questions: [],
    preview: [{ code: 'A', price: 10 }],
  })
})

test('a file is only not compared if the prices of the last one are damaged', async () => {
  const to = await pages.newCatalogue('Damaged')
  const first = await pages.upload('code,price\nA,1\n', { to })
  const folder = join(pages.app.config.dataDir, 'imports')
  const prices = () => pages.files().filter((name) => name.startsWith('catalogue-'))
  const before = prices().length
  await pages.act(first.json.id, 'start')
  await pages.ended(first.json.id)
  // They are kept soon after the import has ended.
  await vi.waitFor(() => expect(prices().length).toBeGreaterThan(before), { timeout: 60_000 })
  for (const name of prices()) writeFileSync(join(folder, name), 'damaged')
  const next = await pages.upload('code,price\nA,2\n', { to })
  expect(next.json).toMatchObject({ state: 'ready', comparison: null, validRows: 1 })
})
