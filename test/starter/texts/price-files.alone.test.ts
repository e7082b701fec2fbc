import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cases } from '../../features/price-files/collection/cases.ts'
import { fileNameOf, writeCaseFile } from '../../features/price-files/collection/write-file.ts'
import type { ImportJson, Pages } from '../../features/price-files/pages-support.ts'
import { tempDir } from '../../support/env.ts'
import { expectMarked, expectMarkedPage, hideDeveloperPages } from './marked-texts.ts'

const { checkPriceFile } = await import('../../../src/features/price-files/check-rows.ts')
const { startPages } = await import('../../features/price-files/pages-support.ts')

/** Names in requests, which errors show as they are. */
const FORM = ['gst', 'headingsLine', 'code', 'decimal', 'point', 'comma']
const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
/** A text, and data before or after it. */
const MARKED = /^[^\p{L}]*⟦.*⟧[^\p{L}]*$/su

describe('every sentence on the pages of price files is a text:', () => {
  test('what is wrong with a file, and what is asked and said about it', async () => {
    const { dir, remove } = tempDir()
    const said: string[] = []
    for (const { file } of cases) {
      const path = join(dir, fileNameOf(file))
      writeCaseFile(path, file)
      const checked = await checkPriceFile(path).catch(({ message }: Error) => ({ message }))
      if ('message' in checked) said.push(checked.message)
      else
        said.push(
          ...checked.problems.map(({ reason }) => reason),
          ...checked.check.remarks,
          ...checked.check.mappingErrors,
        )
    }
    remove()
    expect(said.length).toBeGreaterThan(cases.length)
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

    test('that asks, and that cannot be read', async () => {
      const asks = ['code,price,price\nA,1,2\n', 'code,price inc GST\nA,1\n', 'code,price\nA,"1,250"\n']
      for (const content of [...asks, 'Trade prices\ncode,price\nA,1\n', '%PDF-1.7', 'code,price\n'])
        await look((await pages.upload(content)).json)
    })

    test('a file that is refused, an import that does not exist, and wrong answers', async () => {
      const { visitor, fresh, importsOf, urlOf } = pages
      const headers = { 'content-type': 'text/plain' }
      expectMarked(await visitor.post(importsOf(fresh), { text: 'x', headers }), [
        ...data,
        fresh,
        'text/csv',
        'text/tab-separated-values',
        XLSX,
      ])
      expectMarked(await visitor.get(urlOf('none')), data)
      const { json } = await pages.upload('code,price\nA,1\n')
      for (const form of [{ gst: '1000' }, { headingsLine: 'x' }, { code: '9' }, { decimal: 'x' }])
        expectMarked(await visitor.post(`${urlOf(json.id)}/columns`, { form }), [...data, ...FORM])
    })
  })
})
