import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Pages, startPages } from './pages-support.ts'

let pages: Pages
beforeAll(async () => {
  pages = await startPages()
})
afterAll(() => pages.close())

const LIST =
  'Ace Plumbing\nContractor Price List - July 2026\nCode,Description,Price,Cost\nPV-40,Pipe 40mm,13.20,9\nPV-50,Pipe 50mm,17.60,\n'

/** The page of an import, and its form with one of its buttons. */
function formOf({ visitor, urlOf }: Pages, id: string) {
  const page = async () => (await visitor.get(urlOf(id))).text
  return {
    page,
    /** Presses a button, with everything that the page has in its form. */
    async press(button: string, changes: Record<string, string> = {}): Promise<string> {
      const html = await page()
      const fields = [
        ...html.matchAll(/<select name="([^"]+)"[\s\S]*?<option value="([^"]*)" selected/g),
      ].map(([, name = '', value = '']) => [name, value])
      const hidden = [...html.matchAll(/<input type="hidden" name="(seen|sheet)" value="([^"]*)"/g)].map(
        ([, name = '', value = '']) => [name, value],
      )
      const [name = '', value = ''] = button.split('=')
      const form = {
        ...Object.fromEntries([...fields, ...hidden]),
        ...changes,
        ...(name && { [name]: value }),
      }
      await visitor.post(`${urlOf(id)}/layout`, { form })
      return page()
    },
  }
}

/** The rows of a page as they will be sent: what each shows, beside its line. */
const sentIn = (html: string): string[] =>
  (html.match(/<table class="list sent">[\s\S]*?<\/table>/g) ?? [])
    .flatMap((table) => table.split('<tr>').slice(2))
    .map((row) => row.replace(/<code>/g, '').replace(/<[^>]+>/g, '  '))
    .map((row) =>
      row
        .trim()
        .split(/\s{2,}/)
        .slice(1)
        .join(' | '),
    )

describe('the page of a file whose layout is new', () => {
  test('shows everything, asks three questions one after the other, then ten rows, and confirms', async () => {
    const { json } = await pages.upload(LIST, { answers: false })
    const { page, press } = formOf(pages, json.id)
    const first = await page()
    for (const text of [
      'Ace Plumbing',
      'Contractor Price List - July 2026',
      'Description',
      'Cost',
      'Pipe 40mm · Pipe 50mm',
    ])
      expect(first).toContain(text)
    expect(first).toContain('Are the prices before GST?')
    expect(first).not.toMatch(/In which currency|Who may see|This is right|<input type="radio"/)
    expect((await pages.act(json.id, 'start')).json()).toMatchObject({ status: 400 })
    const second = await press('tax=10')
    expect(second).toContain('In which currency are the prices?')
    expect(second).not.toMatch(/Who may see|This is right/)
    expect(await press('currency=AUD')).toContain('Who may see the prices?')
    expect(sentIn(await press('audience=everyone'))).toEqual([
      'PV-40 | Pipe 40mm | 13.20 | $12.00 | less $1.20 GST',
      'PV-50 | Pipe 50mm | 17.60 | $16.00 | less $1.60 GST',
    ])
    expect((await pages.act(json.id, 'start')).json()).toMatchObject({ status: 400 })
    expect(await press('confirm=on')).toMatch(/as it was confirmed[\s\S]*Change/)
    await pages.act(json.id, 'start')
    expect(await pages.ended(json.id)).toMatchObject({ state: 'completed', progress: { sent: 2 } })
  })

  test('confirms nothing that it has not shown: a changed column is read first', async () => {
    const { json } = await pages.upload(LIST.replace('Ace', 'Bob'), { answers: false })
    const { press } = formOf(pages, json.id)
    await press('tax=0')
    await press('currency=AUD')
    await press('audience=everyone')
    await press('confirm=on', { 'use-0-2': 'ignored', 'use-0-3': 'price' })
    const job = await pages.jobOf(json.id)
    expect(job).toMatchObject({ confirmed: null, validRows: 1 })
    expect(job.reading.preview.map(({ item }) => item.price)).toEqual([9])
  })

  test('asks for the columns that are missing, and says which are chosen twice', async () => {
    const { json } = await pages.upload('Artikel,Preis\nA,1\n', { answers: false })
    const { page, press } = formOf(pages, json.id)
    expect(await page()).toMatch(/Which column is the code\?[\s\S]*Artikel: A[\s\S]*Preis: 1/)
    expect(await press('code-0=0')).toContain('Which column is the price?')
    expect(await press('price-0=1')).toContain('Are the prices before GST?')
    expect(await press('', { 'use-0-0': 'price' })).toContain('Only one column can be used as “price”')
    expect((await pages.act(json.id, 'layout', { sheet: '', 'use-0-0': 'nonsense' })).json()).toMatchObject({
      status: 400,
      field: 'use-0-0',
    })
  })

  test('asks for the cells that mean yes, and what becomes of a price that is for several', async () => {
    const file = 'Code,Price,Group,Per\nA,1,RETAIL,1\nB,2,TRADE,1\nC,300,RETAIL,100\n'
    const { json } = await pages.upload(file, { answers: false })
    const { press } = formOf(pages, json.id)
    const asked = await press('', { 'use-0-2': 'not for sale if' })
    expect(asked).toMatch(/An item is not for sale if “Group” says:[\s\S]*name="cells-0-2" value="TRADE"/)
    expect(await press('cells-0-2=TRADE')).toContain('“Per” says how many the price is for')
    await press('divide-0-3=yes')
    for (const answer of ['tax=0', 'currency=AUD']) await press(answer)
    expect(sentIn(await press('audience=everyone'))).toContain('C | 300 | RETAIL | 100 | $3.00')
    // Each answer can be changed alone.
    expect(await press('again=divide-0-3')).toContain('Last question')
    await press('divide-0-3=no')
    expect((await pages.jobOf(json.id)).reading.problems[0]?.reason).toContain(
      'choose that prices are divided by “Per”',
    )
  })

  test('shows a cell beside the text that is sent if they differ', async () => {
    const { json } = await pages.upload('Code,Name,Price\n"=""007""",,1\n', { answers: false })
    const { press } = formOf(pages, json.id)
    for (const answer of ['tax=0', 'currency=AUD']) await press(answer)
    const rows = sentIn(await press('audience=everyone'))
    expect(rows).toEqual(['007 =&quot;007&quot; | — | 1 | $1.00'])
  })

  test('asks a column whose cells all say no, too: then the prices are before GST', async () => {
    const file = 'Code,Price,Price Includes Taxes\nA,1,No\nB,2,No\n'
    const { json } = await pages.upload(file, { answers: false })
    const { page, press } = formOf(pages, json.id)
    expect(await page()).toMatch(/The price includes GST if “Price Includes Taxes” says:[\s\S]*None of these/)
    const asked = await press('cells-0-2= ')
    expect(asked).toContain('Are the prices before GST?')
    expect(asked).not.toContain('Including 10 %')
    await press('tax=0')
    await press('currency=AUD')
    expect(await press('audience=everyone')).toContain('$2.00')
    expect(await press('confirm=on')).toMatch(/says:[\s\S]*None of these[\s\S]*Before GST/)
    // The next file says yes: nobody has confirmed what that means.
    const next = await pages.upload(file.replace('2,No', '2,Yes'), { answers: false })
    expect(next.json).toMatchObject({ validRows: 1, invalidRows: 1 })
  })

  test('asks of two cells also whether both mean yes', async () => {
    const file = 'Code,Name,Price,GST included\nA,Nail,11,Yes\nB,Board,22,Y\n'
    const { json } = await pages.upload(file, { answers: false })
    const { press } = formOf(pages, json.id)
    expect(await press('cells-0-3=  ')).toContain('How much GST is included?')
    for (const answer of ['tax=10', 'currency=AUD']) await press(answer)
    expect(sentIn(await press('audience=everyone'))).toEqual([
      'A | Nail | 11 | Yes | $10.00 | less $1.00 GST',
      'B | Board | 22 | Y | $20.00 | less $2.00 GST',
    ])
  })

  test('offers the cells of rows without a price, too, but not those of titles', async () => {
    const file = 'Code,Name,Price,State\nFITTINGS,,,\nA,Nail,1,Active\nB,Board,,Discontinued\n'
    const { json } = await pages.upload(file, { answers: false })
    const asked = await formOf(pages, json.id).press('', { 'use-0-3': 'not for sale if' })
    expect(asked).toContain('value="Discontinued"')
    expect(asked).not.toContain('(blank)')
  })

  test('offers the columns with amounts as the price, which are not ignored before one is chosen', async () => {
    const { json } = await pages.upload('Code,Notes,List,RRP\nA,x,1,NZ$2\nB,y,3,NZ$4\n', { answers: false })
    const { page, press } = formOf(pages, json.id)
    const ignored = (html: string) => html.match(/class="ignored"/g)?.length
    const html = await page()
    expect([...html.matchAll(/name="price-0" value="(\d)"/g)].map(([, column]) => column)).toEqual(['2', '3'])
    expect(ignored(html)).toBe(1)
    expect(ignored(await press('price-0=3'))).toBe(2)
  })

  test('says that no row has a code and a price, in place of a question without choices', async () => {
    const { json } = await pages.upload('Code,Price,GST included\n,1,yes\n,2,no\n', { answers: false })
    const { press } = formOf(pages, json.id)
    const html = await press('', { 'use-0-1': 'price' })
    expect(html).toContain('No row has a code and a price')
    expect(html).not.toContain('None of these')
  })

  test('takes a changed column before the answer of the same form', async () => {
    const file = 'Code,List,RRP,Incl. GST\nA,1,2,Y\nB,3,4,N\n'
    const { json } = await pages.upload(file, { answers: false })
    const { press } = formOf(pages, json.id)
    expect(await press('price-0=2', { 'use-0-2': 'price' })).toContain('The price includes GST if')
    await press('', { 'use-0-3': 'ignored' })
    expect(await press('tax=0', { 'use-0-3': 'tax included' })).toContain('The price includes GST if')
  })

  test('says with the question that everyone sees the catalogue, and moves the file into a Managed one with its answers', async () => {
    const { json } = await pages.upload(LIST.replace('Ace', 'Fay'), { answers: false })
    const { press } = formOf(pages, json.id)
    for (const answer of ['tax=10', 'currency=AUD']) await press(answer)
    const refused = await press('audience=selected')
    expect(refused).toMatch(/this catalogue is not Managed[\s\S]*Open or create a Managed catalogue/)
    expect(refused).not.toContain('This is right')
    const managed = await pages.newCatalogue('Trade', 'Managed')
    const { visitor, importsOf, fresh } = pages
    const catalogue = await visitor.get(importsOf(managed).replace(/.imports$/, ''))
    expect(catalogue.text).toMatch(
      new RegExp(`imports/${json.id}/move"><button name="catalogueId" value="${managed}"`),
    )
    await pages.act(json.id, 'move', { catalogueId: managed })
    expect(await press('confirm=on')).toContain('as it was confirmed')
    await pages.act(json.id, 'start')
    expect(await pages.ended(json.id)).toMatchObject({ catalogueId: managed, progress: { sent: 2 } })
    expect((await pages.act(json.id, 'move', { catalogueId: fresh })).json()).toMatchObject({ status: 409 })
  })

  test('does not send prices that are not for everyone into a catalogue that everyone sees', async () => {
    const { json } = await pages.upload(LIST.replace('Ace', 'Cay'), { answers: false })
    const refused = await pages.confirm(json, { audience: 'selected' })
    expect(refused).toMatchObject({ state: 'ready' })
    expect((await pages.act(json.id, 'start')).json()).toMatchObject({
      status: 400,
      detail: expect.stringContaining('this catalogue is not Managed'),
    })
  })
})

describe('the page of the next file', () => {
  test('of a known layout asks nothing, and says that it follows a confirmation', async () => {
    const first = LIST.replace('Ace', 'Dee')
    await pages.upload(first)
    const { json } = await pages.upload(first.replace('13.20', '14.30').replace('July', 'August'), {
      answers: false,
    })
    const { page } = formOf(pages, json.id)
    expect(json.confirmed).toMatchObject({ at: expect.any(String) })
    const html = await page()
    expect(html).toContain('as it was confirmed for files of this layout')
    expect(html).toContain('Send 2 items')
    expect(html).toMatch(
      /Which column is the price\?[\s\S]*Price[\s\S]*Are the prices before GST\?[\s\S]*Before GST/,
    )
    expect(html).not.toContain('This is right')
    await pages.act(json.id, 'layout', { again: '' })
    expect(await page()).toContain('This is right')
    expect((await pages.act(json.id, 'start')).json()).toMatchObject({ status: 400 })
  })

  test('that differs asks again, and shows the difference', async () => {
    const first = LIST.replace('Ace', 'Eve')
    await pages.upload(first)
    const { json } = await pages.upload(first.replace('Contractor', 'Trade'), { answers: false })
    const html = await formOf(pages, json.id).page()
    expect(html).toContain('the file now says “Trade Price List - July 2026”')
    expect(html).toContain('the questions about its prices are asked again')
    expect((await pages.act(json.id, 'start')).json()).toMatchObject({ status: 400 })
  })
})
