import { readdirSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { texts } from '../../../../../src/features/supplier/catalogue-files/import-texts.ts'
import { format } from '../../../../../src/web/feature-api.ts'
import { fileForm } from '../../../../support/file-form.ts'
import { fileOf, JSON_TYPE, type Pages, startPages } from './support.ts'

let pages: Pages
let to: string
let catalogues = 0
beforeAll(async () => {
  pages = await startPages()
})
afterAll(() => pages.app.close())
beforeEach(async () => {
  to = await pages.newCatalogue(`Catalogue ${++catalogues}`)
})

const cookie = () => {
  const jar = pages.visitor.cookies.get(new URL(pages.app.url).host) ?? []
  return [...jar].map((pair) => pair.join('=')).join('; ')
}
const waits = async () => (await pages.visitor.get(pages.urlOf(to), JSON_TYPE)).status === 200

/** A form whose file arrives until the client goes away. */
function slowUpload(begin: string) {
  const gone = new AbortController()
  const head = '--b\r\ncontent-disposition: form-data; name="file"; filename="x.csv"\r\n\r\n'
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(Buffer.from(head + begin))
    },
  })
  const headers = { cookie: cookie(), 'content-type': 'multipart/form-data; boundary=b', ...JSON_TYPE }
  const init = { method: 'POST', headers, body, duplex: 'half', signal: gone.signal } as RequestInit
  return { answer: fetch(pages.urlOf(to), init), goAway: () => gone.abort() }
}

describe('a check is refused', () => {
  test('if the catalogue does not exist', async () => {
    expect(await pages.check('none', fileOf(1))).toMatchObject({ status: 404, code: 'not_found' })
  })

  test.each([
    ['has no file', 'multipart/form-data; boundary=b', '--b--\r\n'],
    [
      'breaks off',
      'multipart/form-data; boundary=b',
      '--b\r\ncontent-disposition: form-data; name="file"; filename="x.csv"\r\n\r\ncode,pri',
    ],
    ['has no boundary', 'multipart/form-data', 'x'],
    ['is none', 'text/csv', 'code,price'],
  ])('with 400 if its form %s', async (name, type, body) => {
    const headers = { cookie: cookie(), ...JSON_TYPE, 'content-type': type }
    const answer = await fetch(pages.urlOf(to), { method: 'POST', headers, body })
    expect(await answer.json()).toMatchObject({
      status: 400,
      code: name === 'has no file' ? 'invalid_input' : 'invalid_request',
    })
    expect(await waits()).toBe(false)
  })

  test('on the page of the catalogue, beside the field, if no file was chosen', async () => {
    const page = await pages.visitor.post(pages.urlOf(to), fileForm('', ''))
    expect(page.status).toBe(400)
    expect(page.text).toMatch(/id="catalogue-file"[^>]*catalogue-file-error/)
    expect(page.text).toContain(format.capital(texts.rules.file))
  })

  test('while another file of the same user is read', async () => {
    const first = slowUpload('code,price\n')
    await vi.waitFor(async () =>
      expect(await pages.check(to, fileOf(1))).toMatchObject({ status: 409, code: 'conflict' }),
    )
    first.goAway()
    await first.answer.catch(() => {})
    await vi.waitFor(async () => expect(await pages.check(to, fileOf(1))).toMatchObject({ state: 'ready' }))
  })
})

test('a check that its sender aborts stores nothing and leaves no open handle', async () => {
  const handles = () => readdirSync('/proc/self/fd').length
  const open = handles()
  for (let count = 0; count < 5; count++) {
    const upload = slowUpload('code,price\nA,1\n')
    await new Promise((resolve) => setTimeout(resolve, 50))
    upload.goAway()
    await upload.answer.catch(() => {})
  }
  await vi.waitFor(() => expect(handles()).toBeLessThanOrEqual(open + 3), { timeout: 5_000, interval: 10 })
  expect(await waits()).toBe(false)
  expect(pages.app.logLines.join()).not.toContain('internal_error')
})
