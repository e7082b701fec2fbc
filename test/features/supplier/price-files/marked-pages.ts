import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { MONEY } from '../../../../src/features/supplier/price-files/uses.ts'
import { fileForm } from '../../../support/file-form.ts'
import { expectMarked, expectMarkedPage, hideDeveloperPages } from '../../../support/marked-texts.ts'
import type { ImportJson, Pages } from './pages-support.ts'

const { startPages } = await import('./pages-support.ts')
const { readHere } = await import('./read-here.ts')

describe('the pages of price files', () => {
  let pages: Pages
  beforeAll(async () => {
    pages = await startPages()
    await hideDeveloperPages(pages.app, pages.visitor)
  })
  afterAll(() => pages.close())
  beforeEach(readHere)

  /** Names, answers, and what a text says of something that was found. */
  const data = [
    ...Object.keys(MONEY),
    ...['[object Object]', 'sam', 'summit-supplies', 'Summit Building Supplies'],
    ...['Fresh', 'Public', 'my prices.csv'],
  ]
  const look = ({ id }: ImportJson, query = '') =>
    expectMarkedPage(pages.visitor, pages.urlOf(id) + query, data)

  test('every sentence on page one, on page two and of an import that was sent is a text', async () => {
    const { json } = await pages.upload('Notes\ncode,name,price\nA,Board,1\nB,Beam,x\n', { says: false })
    await look(json)
    await pages.choose(json)
    await look(json)
    await look(json, '?change')
    await pages.send(json.id)
    await pages.ended(json.id)
    await look(json)
    const { visitor, app, fresh } = pages
    await expectMarkedPage(visitor, `${app.url}/connections/summit-supplies/catalogues/${fresh}`, data)
    const next = await pages.upload('Other notes\ncode,name,price\nA,Board,2\nC,Pole,3\nD,,-1\n')
    await look(next.json)
  })

  test('so is every sentence about a file that is refused, an import that does not exist, and a wrong form', async () => {
    const { visitor, fresh, importsOf, urlOf } = pages
    const noFile = { ...fileForm(''), text: '--b--\r\n' }
    expectMarked(await visitor.post(importsOf(fresh), noFile), [...data, fresh])
    expectMarked(await visitor.get(urlOf('none')), data)
    const { json } = await pages.upload('code,price\nA,1\n', { says: false })
    for (const form of [{ units: 'x' }, { 'use-1': 'x' }, { money: 'x' }]) {
      const answer = await visitor.post(`${urlOf(json.id)}/choice`, {
        form: { seen: json.checkId, do: 'again', ...form },
      })
      expect(answer.status).toBe(400)
      expectMarked(answer, [...data, ...Object.keys(form), 'code', 'price'])
    }
  })
})
