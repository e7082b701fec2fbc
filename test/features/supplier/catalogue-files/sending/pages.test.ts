import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { texts } from '../../../../../src/features/supplier/catalogue-files/import-texts.ts'
import { Records } from '../../../../../src/features/supplier/catalogue-files/records.ts'
import { texts as fileTexts } from '../../../../../src/features/supplier/catalogue-files/texts.ts'
import { webTexts } from '../../../../../src/web/feature-api.ts'
import { fileForm } from '../../../../support/file-form.ts'
import { connected } from '../../../../support/flow.ts'
import { expectInOrder, shown } from '../../../../support/pages.ts'
import {
  fileOf,
  itemAt,
  itemsIn,
  JSON_TYPE,
  type Pages,
  quoting,
  SAM,
  startPages,
  waitingFor,
} from './support.ts'

let pages: Pages
let to: string
let catalogues = 0
beforeAll(async () => {
  pages = await startPages()
})
afterAll(() => pages.app.close())
beforeEach(async () => {
  await pages.app.clear()
  to = await pages.newCatalogue(`Catalogue ${++catalogues}`)
})

const { differs, errors, failures, sending, wrong } = texts
const textOf = async () => (await pages.visitor.get(pages.urlOf(to))).text
const itemsOfCatalogue = () => itemsIn(pages.app.platform, to)
const uploads = async () => (await pages.app.calls()).filter(({ endpoint }) => endpoint === 'items').length
/** Sends a file of this many items to its end. */
async function sendAll(content: string): Promise<void> {
  await pages.check(to, content)
  expect(await pages.send(to)).toBe(202)
  await pages.reaches(to, 'completed')
}

describe('a right file', () => {
  test('is compared and not sent, and then sent exactly as it is', async () => {
    const before = await uploads()
    const checked = await pages.check(to, fileOf(1_500))
    expect(checked).toMatchObject({
      state: 'ready',
      items: 1_500,
      difference: { isFirst: true, counts: { added: 1_500 }, asks: [] },
    })
    expect(JSON.stringify(checked)).not.toContain('userId')
    expect(await uploads()).toBe(before)
    expect(await pages.send(to)).toBe(202)
    expect(await pages.reaches(to, 'completed')).toMatchObject({ sent: 1_500, message: null })
    const expected = Array.from({ length: 1_500 }, (_, at) => itemAt(at))
    expect(await itemsOfCatalogue()).toEqual(new Map(expected.map((item) => [item.code, item])))
    expect(await uploads()).toBe(before + 2)
  })

  test('of the next month shows what differs from what the catalogue received', async () => {
    await sendAll('code,price,name\nA,10,Nail\nB,20,Bolt\nC,30,Nut\n')
    await pages.check(to, 'code,price,name\nA,10.50,Nail\nB,20,Bolt M8\nD,40,Screw\n')
    const { added, higher, otherTexts, gone } = differs.counts
    expectInOrder(await textOf(), added, higher, otherTexts, gone, '$10.00', '$10.50', differs.percent(5))
  })

  test('that asks for a tick is not sent without it, by a page or a program', async () => {
    await sendAll('code,price\nA,10\nB,20\n')
    const { difference } = await pages.check(to, 'code,price\nA,100\nB,20\n')
    const { code } = difference
    const byForm = await pages.visitor.post(`${pages.urlOf(to)}/send`, { form: { code } })
    expect(byForm.status).toBe(400)
    for (const ask of difference.asks) expect(byForm.text).toContain(shown(texts.question(ask)))
    expect(byForm.text).toMatch(/name="confirm"[^>]*aria-invalid="true"/)
    expect((await pages.act(to, 'send', { code })).json()).toMatchObject({ status: 400, field: 'confirm' })
    expect(await pages.json(to)).toMatchObject({ state: 'ready' })
    await pages.visitor.post(`${pages.urlOf(to)}/send`, { form: { code, confirm: 'on' } })
    await pages.reaches(to, 'completed')
    expect((await itemsOfCatalogue()).get('A')).toMatchObject({ price: 100 })
  })

  test('waits on the page of its catalogue', async () => {
    await pages.check(to, fileOf(3))
    const page = await pages.visitor.get(pages.urlOf(to).replace(/\/import$/, ''))
    expectInOrder(page.text, 'prices.csv', texts.states.ready)
  })
})

describe('Send', () => {
  test('of an older page is refused when a second file was checked, and the page of that one is shown', async () => {
    const old = await pages.check(to, 'code,price\nA,1\n')
    await pages.check(to, 'code,price\nA,2\n')
    const form = { code: old.difference.code, confirm: 'on' }
    const refused = await pages.visitor.post(`${pages.urlOf(to)}/send`, { form })
    expect(refused.status).toBe(409)
    expectInOrder(refused.text, errors.changed, '$2.00')
    expect((await itemsOfCatalogue()).size).toBe(0)
  })

  test('of a page is refused when another import has changed what the catalogue received', async () => {
    const colleague = await connected(pages.app, { ...SAM, name: 'alex' })
    await sendAll('code,price\nA,1\n')
    const old = await pages.check(to, 'code,price\nA,2\n')
    await pages.check(to, 'code,price\nA,3\n', colleague)
    await pages.send(to, colleague)
    await expect.poll(async () => (await itemsOfCatalogue()).get('A')).toMatchObject({ price: 3 })
    const answer = await pages.act(to, 'send', { code: old.difference.code, confirm: true })
    expect(answer.status).toBe(404)
    await expect
      .poll(async () => (await pages.check(to, 'code,price\nA,2\n')).difference?.changes)
      .toMatchObject([{ before: 3, after: 2 }])
    expect((await pages.act(to, 'send', { code: old.difference.code, confirm: true })).status).toBe(409)
    expect((await itemsOfCatalogue()).get('A')).toMatchObject({ price: 3 })
  })

  test('that is refused shows why on the page of the file, even while the platform answers nothing', async () => {
    await sendAll('code,price\nA,10\n')
    const { difference } = await pages.check(to, 'code,price\nA,100\n')
    await pages.app.fault('catalogues', '500')
    const refused = await pages.visitor.post(`${pages.urlOf(to)}/send`, { form: { code: difference.code } })
    expect(refused.status).toBe(400)
    expect(refused.text).toContain('$100.00')
  })

  test('while another import into the catalogue is under way is refused, and so is a check', async () => {
    await pages.check(to, fileOf(3))
    await pages.app.fault('items', '429', undefined, 1)
    await pages.send(to)
    await pages.says(to, waitingFor('busy'))
    const colleague = await connected(pages.app, { ...SAM, name: 'alex' })
    expect(await pages.check(to, fileOf(2), colleague)).toMatchObject({ status: 409, code: 'conflict' })
    expect((await colleague.get(pages.urlOf(to), JSON_TYPE)).status).toBe(404)
    await pages.app.clear()
    await pages.reaches(to, 'completed')
  })

  test('twice sends once', async () => {
    const { difference } = await pages.check(to, fileOf(3))
    const send = () => pages.act(to, 'send', { code: difference.code })
    const before = await uploads()
    const statuses = (await Promise.all([send(), send()])).map(({ status }) => status)
    expect(statuses).toContain(202)
    await pages.reaches(to, 'completed')
    expect(await uploads()).toBe(before + 1)
  })
})

describe('an import', () => {
  test('that waits for the platform says so, can be stopped although the platform answers nothing, and is sent whole when its user sends it again', async () => {
    const { id } = await pages.check(to, fileOf(2_500))
    await pages.app.fault('items', '429', undefined, 1)
    await pages.send(to)
    await pages.says(to, waitingFor('busy'))
    await pages.app.fault('catalogues', '500')
    expect((await pages.act(to, 'stop', { id })).json()).toMatchObject({ state: 'stopped' })
    expectInOrder(await textOf(), sending.sent(0, 2_500), sending.resume)
    await pages.app.clear()
    expect((await pages.act(to, 'resume', { id })).status).toBe(202)
    expect(await pages.reaches(to, 'completed')).toMatchObject({ sent: 2_500 })
    expect((await itemsOfCatalogue()).size).toBe(2_500)
  })

  test('is stopped and resumed only from its own page: an older page is refused, and the page is shown anew', async () => {
    const old = await pages.check(to, fileOf(2))
    const { id } = await pages.check(to, fileOf(3))
    await pages.app.fault('items', '429', undefined, 1)
    await pages.send(to)
    await pages.says(to, waitingFor('busy'))
    const refused = await pages.visitor.post(`${pages.urlOf(to)}/stop`, { form: { id: old.id } })
    expect(refused.status).toBe(409)
    expectInOrder(refused.text, errors.changed, sending.sent(0, 3), id)
    expect(await pages.json(to)).toMatchObject({ state: 'running' })
    await pages.act(to, 'stop', { id })
    expect((await pages.act(to, 'resume', { id: old.id })).json()).toMatchObject({ status: 409 })
    expect(await pages.json(to)).toMatchObject({ state: 'stopped' })
  })

  test('that the platform reports as failed shows the reason, and the page of its catalogue the state', async () => {
    await pages.check(to, fileOf(3))
    await pages.app.fault('import', 'failed', 1)
    await pages.send(to)
    const message = quoting(failures.failed, 'stopped by an internal fault of the platform')
    expect(await pages.reaches(to, 'failed')).toMatchObject({ message })
    const page = await pages.visitor.get(pages.urlOf(to).replace(/\/import$/, ''))
    expectInOrder(page.text, 'prices.csv', texts.states.failed)
  })

  test('whose access was revoked fails, and says to reconnect', async () => {
    await pages.check(to, fileOf(10))
    await pages.app.fault('items', '500', undefined, 1)
    await pages.send(to)
    await pages.says(to, waitingFor('error'))
    await pages.app.sandbox('revoke')
    await pages.app.clear()
    const { services, config } = pages.app
    const records = new Records(services.store, config.platform.apiUrl)
    await expect.poll(async () => (await records.find(to))?.message).toBe(failures.revoked)
    await connected(pages.app, SAM)
    expect(await textOf()).toContain(sending.resume)
  })

  test('tells its open page how far it is', async () => {
    const version = async () => (await pages.visitor.get(`${pages.urlOf(to)}/live`)).json().version
    await pages.check(to, fileOf(3))
    const before = await version()
    await pages.send(to)
    await pages.reaches(to, 'completed')
    expect(await version()).not.toBe(before)
  })

  test('is hidden from other users, and so is a file that waits', async () => {
    await pages.check(to, fileOf(3))
    const mallory = await connected(pages.app, { name: 'mallory', bxcontext: 'harbour-homes' })
    const foreign = pages.urlOf(to).replace('summit-supplies', 'harbour-homes')
    for (const path of ['', '/live']) {
      const answer = await mallory.get(foreign + path, JSON_TYPE)
      expect(answer.text, path).not.toContain('prices.csv')
    }
    for (const action of ['send', 'resume', 'stop'])
      expect((await mallory.post(`${foreign}/${action}`, JSON_TYPE)).status, action).toBe(404)
  })
})

test('a file with errors sends nothing: the page names the line, the column, what was found and what is expected', async () => {
  const content = 'code,price\nA,1\nB,$2\nA,3\n'
  const page = await pages.visitor.post(pages.urlOf(to), fileForm(content))
  expect(page.status).toBe(400)
  const kind = wrong.kind(1, 'price', fileTexts.expectations.currency.expected)
  const title = webTexts.layout.error(texts.titles.wrong_file)
  expectInOrder(page.text, title, wrong.lead('prices.csv'), kind, '$2')
  const problem = await pages.check(to, content)
  expect(problem).toMatchObject({ status: 400, code: 'wrong_file' })
  expect(problem.kinds).toMatchObject([
    { column: 'price', places: [{ line: 3 }] },
    { column: 'code', places: [{ line: 4 }] },
  ])
  expect((await pages.visitor.get(pages.urlOf(to), JSON_TYPE)).status).toBe(404)
  // Reloaded.
  expect((await pages.visitor.get(pages.urlOf(to))).headers.get('location')).toMatch(/catalogues\/[^/]+$/)
})

test('a file that waits is still there after a file with errors, and is sent as it was shown', async () => {
  const { difference } = await pages.check(to, fileOf(2))
  await pages.check(to, 'code\nA\n')
  expect((await pages.act(to, 'send', { code: difference.code })).status).toBe(202)
  await pages.reaches(to, 'completed')
  expect((await itemsOfCatalogue()).size).toBe(2)
})
