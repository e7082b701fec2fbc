import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ImportJson, Pages } from '../../features/price-files/pages-support.ts'
import { fileForm } from '../../support/file-form.ts'
import { expectMarked, expectMarkedPage, hideDeveloperPages } from '../../support/marked-texts.ts'

const { failure, layoutOf, read, readWith } = await import('../../features/price-files/read-support.ts')
const { openQuestions } = await import('../../../src/features/price-files/questions.ts')
const { startPages } = await import('../../features/price-files/pages-support.ts')

/** Names in requests, which errors show as they are. */
const FORM = ['tax', 'currency', 'sheet', 'use-0-0']
/** A text, and data before or after it. */
const MARKED = /^[^\p{L}]*⟦.*⟧[^\p{L}]*$/su

describe('every sentence on the pages of price files is a text:', () => {
  test('what is wrong with a file and its rows, and what is different from the last one', async () => {
    const said: string[] = []
    const bad = [
      'A,-1,1',
      'B,x,1',
      'C,1,2',
      'D,2,1',
      'D,3,1',
      '1-Feb,1,1',
      '9.3E+12,1,1',
      `${'x'.repeat(200)},1,1`,
      'E,#REF!,1',
    ]
    const file = `code,price,per\n${bad.join('\n')}\n`
    for (const content of ['', '%PDF-1.7', 'PK\u0003\u0004', '{"a":1}', '\n'])
      said.push(await failure(content))
    const { problems, remarks } = await read(file, { uses: { per: 'price is for this many' } })
    const next = await readWith(`${file}free text\n`.replace('per', 'for'), [await layoutOf(file)])
    said.push(...problems.map((problem) => problem.replace(/^\d+: /, '')), ...remarks, ...next.differences)
    const twice = await read('x,y\n1,2\n', { uses: { x: 'code', y: 'code' } })
    said.push(twice.problem ?? '', ...openQuestions(twice.draft).map(({ text }) => text))
    expect(said.length).toBeGreaterThan(15)
    expect(said.filter((sentence) => !MARKED.test(sentence))).toEqual([])
  })

  describe('the page of an import', () => {
    let pages: Pages
    beforeAll(async () => {
      pages = await startPages()
      await hideDeveloperPages(pages.app, pages.visitor)
    })
    afterAll(() => pages.close())

    const data = ['sam', 'summit-supplies', 'Summit Building Supplies', 'Fresh', 'Public', 'my prices.csv']
    /** What is wrong with a file is said by a thread, whose texts have no marks; the test above has them. */
    const look = ({ id, failure }: ImportJson) =>
      expectMarkedPage(pages.visitor, pages.urlOf(id), [...data, failure ?? ''])

    test('that is ready, with problems, and that has been sent', async () => {
      const { json } = await pages.upload('code,name,price\nA,Board,1\nB,Beam,x\n')
      await look(await pages.jobOf(json.id))
      await pages.act(json.id, 'start')
      await pages.ended(json.id)
      await look(await pages.jobOf(json.id))
      const { visitor, app, fresh } = pages
      const catalogue = `${app.url}/connections/summit-supplies/catalogues/${fresh}`
      await expectMarkedPage(visitor, catalogue, data)
      expectMarked(await visitor.post(`${pages.urlOf(json.id)}/stop`), data)
      const next = await pages.upload('code,name,price\nA,Board,2\nC,Pole,3\n')
      await look(next.json)
    })

    test('that asks', async () => {
      const asks = ['code,price,price\nA,1,2\n', 'x,y\nA,1\n', 'Trade prices\ncode,price\nA,1\n']
      for (const content of asks) await look((await pages.upload(content, { answers: false })).json)
    })

    test('a file that is refused, an import that does not exist, and wrong answers', async () => {
      const { visitor, fresh, importsOf, urlOf } = pages
      const noFile = { ...fileForm(''), text: '--b--\r\n' }
      expectMarked(await visitor.post(importsOf(fresh), noFile), [...data, fresh])
      expectMarked(await visitor.get(urlOf('none')), data)
      const { json } = await pages.upload('code,price\nA,1\n')
      for (const form of [{ tax: '1000' }, { currency: 'x' }, { sheet: 'x' }, { sheet: '', 'use-0-0': 'x' }])
        expectMarked(await visitor.post(`${urlOf(json.id)}/layout`, { form }), [...data, ...FORM])
    })
  })
})
