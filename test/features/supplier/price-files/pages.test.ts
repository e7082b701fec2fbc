import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { texts } from '../../../../src/features/supplier/price-files/texts.ts'
import { connected } from '../../../support/flow.ts'
import { type ImportJson, type Pages, SAM, startPages } from './pages-support.ts'
import { readHere } from './read-here.ts'
import { itemsOf } from './support.ts'
import { workbook } from './xlsx.ts'

let pages: Pages
beforeAll(async () => {
  pages = await startPages()
})
afterAll(() => pages.close())
beforeEach(readHere)

let catalogues = 0
const newCatalogue = () => pages.newCatalogue(`Catalogue ${++catalogues}`)
const htmlOf = async (id: string, query = '') => (await pages.visitor.get(pages.urlOf(id) + query)).text
/** Sends a form of a page, and resolves to the page that follows. */
const submit = async (id: string, action: string, form: Record<string, string | string[]>) =>
  pages.visitor.follow(await pages.visitor.post(`${pages.urlOf(id)}/${action}`, { form }))
/** What the platform has of a catalogue, in the order of the codes. */
const received = async (catalogueId: string) => [...(await itemsOf(pages.app.platform, catalogueId)).values()]
async function sendAll(content: string, to: string): Promise<ImportJson> {
  const { json } = await pages.upload(content, { to })
  expect((await pages.send(json.id)).status).toBe(202)
  return pages.ended(json.id)
}

test.each([
  [1.05, '+5 %'],
  [0.98, '−2 %'],
  [0.9999, '−0.1 %'],
  [10, '× 10'],
  [0.01, '÷ 100'],
  [0, '−100 %'],
])('a price that is %f times the last one is said to have changed by %s', (of, words) => {
  expect(texts.change(of)).toBe(words)
})

const FILE =
  'Price list October\n1. Prices are for trade.\n\nItem Code,Product,RRP,Status\nA,Nail,1.50,\nB,Bolt,2.50,Old\nC,Screw,3.50,\n'

test('the address of a form that was refused leads to the page', async () => {
  const { json } = await pages.upload(FILE, { to: await newCatalogue() })
  const { text } = await pages.visitor.follow(await pages.visitor.get(`${pages.urlOf(json.id)}/choice`))
  expect(text).toContain('What differs')
})

describe('page one', () => {
  test('shows every row above the table, the headings, the first rows, and each column with its values and their counts', async () => {
    const { json } = await pages.upload(FILE, { says: false })
    const html = await htmlOf(json.id)
    expect(html).toMatch(
      /Price list October[\s\S]*1\. Prices are for trade\.[\s\S]*Item Code[\s\S]*Nail[\s\S]*Screw/,
    )
    expect(html).toMatch(/<select id="use-4"[\s\S]*<b>\(blank\)<\/b> 2[\s\S]*<b>Old<\/b> 1/)
    expect(html).toContain('The prices under \u2068RRP\u2069 are in'.replaceAll(/[\u2068\u2069]/g, ''))
    expect(json).toMatchObject({ state: 'ready', choice: null, reading: { found: null } })
    expect((await pages.send(json.id)).status).toBe(409)
  })

  test('"Show this sheet and row" shows another sheet, and keeps what was filled in', async () => {
    const sheets = ['Nails', 'Boards'].map((name) => ({
      name,
      rows: [
        ['Code', `${name} price`],
        [name, 1],
      ],
    }))
    const { json } = await pages.upload(Buffer.from(workbook(sheets)), { says: false })
    const form = { seen: json.checkId, headingsRow: '1', units: '10', money: 'NZD before GST', do: 'again' }
    const { text } = await submit(json.id, 'choice', { ...form, sheet: 'Boards' })
    expect(text).toMatch(/<option value="Boards" selected>/)
    expect(text).toContain('Boards price')
    expect(text).toMatch(/value="NZD before GST" checked/)
    expect(text).toMatch(/name="units"[^>]* value="10"/)
  })

  test('comes back with what was typed, and the focus on the field that is wrong', async () => {
    const { json } = await pages.upload(FILE, { says: false })
    const form = { seen: json.checkId, units: 'ten', headingsRow: '4', money: 'NZD before GST' }
    const { status, text } = await submit(json.id, 'choice', { ...form, do: 'continue' })
    expect(status).toBe(400)
    expect(text).toMatch(
      /name="units" inputmode="numeric" value="ten" aria-invalid="true" aria-describedby="units-error" autofocus/,
    )
    expect(text).toMatch(/id="units-error" role="alert">[^<]*Give a number from 1/)
    expect(text).toMatch(/value="NZD before GST" checked/)
  })

  test('without an answer about the money stays, with the focus on the question', async () => {
    const { json } = await pages.upload(FILE, { says: false })
    const form = { seen: json.checkId, headingsRow: '4', units: '1', 'use-1': 'code', 'use-3': 'price' }
    const { text } = await submit(json.id, 'choice', { ...form, do: 'continue' })
    expect(text).toMatch(/role="alert"[^>]*><p>Say which money the prices are in/)
    expect(text).toMatch(/value="AUD before GST" aria-invalid="true" aria-describedby="missing" autofocus/)
    expect(await pages.jobOf(json.id)).toMatchObject({ choice: null, itemCount: 0 })
  })

  test('says that columns are suggested, and shows three samples of a column whose values are nearly all different', async () => {
    const rows = Array.from({ length: 30 }, (_, row) => `C-${row},Item ${row % 29},${row + 1},${row % 2}\n`)
    const { json } = await pages.upload(`Code,Name,RRP,Even\n${rows.join('')}`, { says: false })
    const html = await htmlOf(json.id)
    expect(html).toContain('Suggested from the headings: check them.')
    expect(html).toContain('C-0 · C-1 · C-2')
    expect(html).not.toMatch(/<b>(<bdi>)?(C-0|Item 0)\b/)
    expect(html).toContain('and 26 more')
    expect(html).toMatch(/>0(<\/bdi>)?<\/b> 15/)
    const other = await pages.upload('Artikel,Preis\nA,1\n', { says: false })
    expect(await htmlOf(other.json.id)).not.toContain('Suggested from')
  })

  test('without a column that is the code says so beside the columns, with the focus there', async () => {
    const { json } = await pages.upload(FILE.replace('Item Code', 'Thing'), { says: false })
    const form = { seen: json.checkId, headingsRow: '4', units: '1', money: 'AUD before GST' }
    const { text } = await submit(json.id, 'choice', { ...form, 'use-3': 'price', do: 'continue' })
    expect(text).toMatch(
      /id="missing-columns"><p class="field-error">Choose which column is the code[\s\S]*?<select [^>]*aria-describedby="missing-columns" autofocus/,
    )
    expect(text).not.toContain('aria-invalid')
  })

  test('does nothing but show itself anew if another tab has chosen meanwhile', async () => {
    const { json } = await pages.upload(FILE, { says: false })
    const { checkId } = await pages.choose(json, { money: 'NZD before GST' })
    const form = { seen: json.checkId, headingsRow: '4', units: '7', money: 'AUD before GST', do: 'continue' }
    const { text } = await submit(json.id, 'choice', form)
    expect(text).toContain('This import has changed meanwhile')
    expect(await pages.jobOf(json.id)).toMatchObject({
      checkId,
      choice: { money: 'NZD before GST', units: 1 },
    })
  })

  test('that is sent after the session has ended comes back after the sign-in as it was filled in', async () => {
    const user = await connected(pages.app, { ...SAM, name: 'ida' })
    const { json } = await pages.upload(FILE, { by: user, says: false })
    const url = pages.urlOf(json.id)
    await user.post(`${pages.app.url}/sign-out`)
    const form = {
      seen: json.checkId,
      units: '12',
      money: 'NZD before GST',
      'use-2': 'description',
      do: 'continue',
    }
    await user.post(`${url}/choice`, { form, headers: { referer: url } })
    const signedIn = { form: { name: 'ida', returnTo: new URL(url).pathname } }
    const { text } = await user.follow(await user.post(`${pages.app.url}/sign-in`, signedIn))
    expect(text).toMatch(/name="units"[^>]* value="12"/)
    expect(text).toMatch(/value="NZD before GST" checked/)
    expect(text).toMatch(/id="use-2"[^>]*>[\s\S]*?<option value="description" selected>/)
  })

  test('is filled in from the last choice, and says whose it was and when', async () => {
    const to = await newCatalogue()
    await sendAll(FILE, to)
    const { json } = await pages.upload(FILE.replace('Status', 'State'), { to })
    const own = await htmlOf(json.id, '?change')
    expect(own).toMatch(/Filled in as you chose on <time [^>]*>[^<]*<\/time>\./)
    expect(own).toMatch(/value="AUD before GST" checked/)
    const other = await connected(pages.app, { ...SAM, name: 'joe' })
    const theirs = await pages.upload(FILE, { to, by: other })
    const { text } = await other.get(`${pages.urlOf(theirs.json.id)}?change`)
    expect(text).toMatch(/Filled in as Priya Nair chose on/)
    expect(JSON.stringify(theirs.json)).not.toMatch(/"sam"|userId/)
  })
})

describe('page two', () => {
  test('sends nothing for a page that is no more so: it was chosen anew, or the catalogue has received something', async () => {
    const to = await newCatalogue()
    const { json } = await pages.upload(FILE, { to })
    await pages.choose(json, { units: 10 })
    expect((await pages.send(json.id, { seen: json.checkId })).json()).toMatchObject({
      status: 409,
      code: 'conflict',
    })
    const { checkId } = await pages.jobOf(json.id)
    await sendAll(FILE.replace('1.50', '1.60'), to)
    const { text } = await submit(json.id, 'send', { seen: checkId, confirm: 'on' })
    expect(text).toMatch(/Nothing was sent yet[\s\S]*3 lower/)
    expect((await received(to)).find(({ code }) => code === 'A')).toMatchObject({ price: 1.6 })
  })

  test('folds the many other cells of a row, but no new value', async () => {
    const to = await newCatalogue()
    const columns = Array.from({ length: 20 }, (_, at) => `Attribute ${at}`)
    const cells = (row: number) => columns.map((_, at) => `v${row}-${at}`)
    const file = (colour: string) =>
      [
        ['Code', 'RRP', 'Colour', ...columns],
        ['A', 1, 'red', ...cells(0)],
        ['B', 2, colour, ...cells(1)],
      ].join('\n')
    await sendAll(file('red'), to)
    const { json } = await pages.upload(file('blue'), { to })
    const html = await htmlOf(json.id)
    expect(html).toMatch(
      /row 3 ·[^·]*<mark>blue<\/mark>\s*<details><summary>All cells<\/summary>[\s\S]*v1-19/,
    )
  })

  test('discards and resumes nothing that another tab has sent', async () => {
    const { json } = await pages.upload(FILE, { to: await newCatalogue() })
    expect(await htmlOf(json.id)).toContain('name="state" value="ready"')
    await pages.send(json.id)
    const changed = 'This import has changed meanwhile'
    expect((await submit(json.id, 'discard', { seen: json.checkId, state: 'ready' })).text).toContain(changed)
    expect((await submit(json.id, 'resume', { seen: json.checkId, state: 'failed' })).text).toContain(changed)
    expect(await pages.ended(json.id)).toMatchObject({ state: 'completed', progress: { sent: 3 } })
  })

  test('leaves out the ticked rows, shows itself anew, and takes them in again', async () => {
    const { json } = await pages.upload(FILE, { to: await newCatalogue() })
    const without = await submit(json.id, 'send', { seen: json.checkId, leaveOut: ['b'] })
    expect(without.text).toMatch(
      /Nothing was sent yet[\s\S]*Left out by hand[\s\S]*name="leaveOut" value="B"[^>]* checked/,
    )
    expect(without.text).not.toMatch(/Left out by hand[\s\S]*<mark>/)
    const { checkId, items, state } = await pages.jobOf(json.id)
    expect([state, items.map(({ code }) => code)]).toEqual(['ready', ['A', 'C']])
    await submit(json.id, 'send', { seen: checkId })
    expect((await pages.jobOf(json.id)).items).toHaveLength(3)
  })

  test('shows what differs, ten rows, the rows that are not sent, and Send at its end, in this order; what is new is marked', async () => {
    const to = await newCatalogue()
    const rows = Array.from({ length: 30 }, (_, row) => `T-${row},Item ${row},${row + 1},EA`)
    const file = (title: string, more: string[]) => ['Code,Name,RRP,Unit', ...more, `,${title},,`].join('\n')
    await sendAll(file('October', rows), to)
    const next = rows.map((row, at) =>
      at === 4 ? row.replace('EA', 'C') : row.replace('T-3,Item 3,4', 'T-3,Item 3,4.20'),
    )
    const { json } = await pages.upload(file('November', [...next, 'P-1,POA,,EA']), { to })
    expect(json.reading.found?.compared).toMatchObject({ same: 29, higher: 1, lower: 0, added: 0, gone: 0 })
    const html = await htmlOf(json.id)
    const order = [
      '29 prices are the same, 1 higher (up to 5 %).',
      'November</mark>',
      'October',
      'C (1 row)</mark>',
      '10 of 30 items',
      'T-4',
      '<mark>C</mark>',
      '$4.00 →',
      '$4.20',
      '+5 %',
      'Rows not sent',
      'new</mark>',
      'Look at this',
      'has a new value: C',
      'RRP is in Australian dollars, before GST. Every connected builder sees these prices.',
      `Send 30 items to Catalogue ${catalogues}`,
    ]
    let at = 0
    for (const words of order) {
      const found = html.indexOf(words, at)
      expect(found, `${words} after ${at}`).toBeGreaterThan(at)
      at = found
    }
  })

  test('asks for a tick if there is a box, and comes back with the ticks and the focus', async () => {
    const to = await newCatalogue()
    await sendAll(FILE, to)
    const { json } = await pages.upload(FILE.replaceAll('.50', '0.50'), { to })
    const form = { seen: json.checkId }
    const { status, text } = await submit(json.id, 'send', form)
    expect(status).toBe(400)
    expect(text).toMatch(
      /id="confirm" name="confirm" aria-invalid="true" aria-describedby="confirm-error" autofocus/,
    )
    await submit(json.id, 'send', { ...form, confirm: 'on' })
    expect(await pages.ended(json.id)).toMatchObject({ state: 'completed', progress: { sent: 3 } })
  })
})
