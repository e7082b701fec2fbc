import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { fileForm } from '../../support/file-form.ts'
import { connected } from '../../support/flow.ts'
import { type Cell, workbook } from '../../support/xlsx.ts'
import { JSON_TYPE, type Pages, rowsOf, startPages } from './pages-support.ts'

let pages: Pages
beforeAll(async () => {
  pages = await startPages({ MAX_UPLOAD_MB: '1' })
})
afterAll(() => pages.close())

describe('an uploaded price file', () => {
  test('is read before anything is sent, sent on demand, and reported', async () => {
    const { upload, act, ended, visitor, urlOf } = pages
    const { status, json } = await upload(`${rowsOf(1500)},no code,1\nC1,again,2.50\n`)
    expect(status).toBe(201)
    expect(json).toMatchObject({
      fileName: 'my prices.csv',
      state: 'ready',
      bxcontext: 'summit-supplies',
      rows: 1502,
      validRows: 1499,
      invalidRows: 3,
      confirmed: { at: expect.any(String) },
      reading: {
        // The row that is taken back later is shown, too.
        problems: [{ line: 3, cells: ['C1', 'Board 1', '2'] }, { line: 1502 }, { line: 1503 }],
      },
    })
    expect(json.reading.preview).toHaveLength(10)
    expect(json.reading.preview[0]?.item).toEqual({ code: 'C0', name: 'Board 0', price: 1 })
    expect(JSON.stringify(json)).not.toContain('userId')
    expect((await pages.app.calls()).some(({ endpoint }) => endpoint === 'items')).toBe(false)
    expect((await act(json.id, 'start')).status).toBe(202)
    expect(await ended(json.id)).toMatchObject({ state: 'completed', progress: { sent: 1499, batches: 2 } })
    const report = await visitor.get(`${urlOf(json.id)}/report.csv`)
    expect(report.text.trim().split('\r\n')).toHaveLength(4)
    expect(report.headers.get('content-type')).toContain('text/csv')
    const { store } = pages.app.services
    await act(json.id, 'discard')
    expect(await pages.jobOf(json.id)).toMatchObject({ status: 404, code: 'not_found' })
    expect(await store.ofOwner(json.id)).toEqual([])
  })

  test('of several sheets names the sheet of each problem', async () => {
    const rows = [
      ['Code', 'Price'],
      ['A', 1],
      ['B', -1],
    ] satisfies Cell[][]
    const content = workbook(['Nails', 'Boards'].map((name, at) => ({ name, rows: rows.slice(0, 3 - at) })))
    const { json } = await pages.upload(Buffer.from(content), { answers: { sheets: ['Nails', 'Boards'] } })
    const { text } = await pages.visitor.get(pages.urlOf(json.id))
    expect(text).toMatch(/<td data-label="Sheet">Nails<\/td>\s*<th scope="row" class="number">[^\n]*3</)
  })

  test.each([
    ['A,-1\n', 'each has a problem, or is not for sale'],
    ['', 'The file has no rows that can be sent'],
  ])('of a known layout of which no row can be sent says why: %j', async (rows, words) => {
    const { upload, visitor, urlOf } = pages
    await upload('Code,RRP\nA,1\n', { answers: { uses: { RRP: 'price' } } })
    const { json } = await upload(`Code,RRP\n${rows}`, { answers: false })
    expect((await visitor.get(urlOf(json.id))).text).toContain(words)
  })

  test('that cannot be read says why on the page of its form, and is not kept', async () => {
    const { upload, visitor, importsOf, fresh, catalogueJson } = pages
    const before = (await catalogueJson(fresh)).imports.length
    const damaged = 'PK\u0003\u0004zip'
    expect(await upload(damaged)).toMatchObject({
      status: 400,
      json: { code: 'file_unreadable', detail: expect.stringContaining('workbook is damaged') },
    })
    const page = await visitor.post(importsOf(fresh), fileForm(damaged))
    expect(page.status).toBe(400)
    expect(page.text).toMatch(/workbook is damaged[\s\S]*<input id="price-file"/)
    expect((await catalogueJson(fresh)).imports).toHaveLength(before)
  })

  test('is hidden from other users', async () => {
    const { upload, urlOf, visitor, app } = pages
    const { json } = await upload(rowsOf(3))
    const other = await connected(app, { name: 'mallory' })
    for (const path of ['', '/report.csv', '/live'])
      expect((await other.get(urlOf(json.id) + path, JSON_TYPE)).status, path).toBe(404)
    for (const path of ['/start', '/discard', '/layout', '/stop'])
      expect((await other.post(urlOf(json.id) + path, JSON_TYPE)).status, path).toBe(404)
    expect((await visitor.get(`${app.url}/connections/other/imports/${json.id}`, JSON_TYPE)).status).toBe(404)
  })
})

describe('an upload is rejected', () => {
  test('if it is too large, and nothing of it is kept', async () => {
    const { imports } = await pages.catalogueJson(pages.fresh)
    expect(await pages.upload(Buffer.alloc(1_500_000, 'a'))).toMatchObject({
      status: 413,
      json: { code: 'payload_too_large', detail: expect.stringContaining('1 MB') },
    })
    expect((await pages.catalogueJson(pages.fresh)).imports).toEqual(imports)
  })

  test('if the catalogue does not exist', async () => {
    const answer = await pages.upload(rowsOf(1), { to: 'none' })
    expect(answer).toMatchObject({ status: 404, json: { code: 'not_found' } })
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
    const { cookieOf, importsOf, fresh, visitor } = pages
    const headers = { cookie: cookieOf(visitor), ...JSON_TYPE, 'content-type': type }
    const answer = await fetch(importsOf(fresh), { method: 'POST', headers, body })
    expect(await answer.json()).toMatchObject({
      status: 400,
      code: name === 'has no file' ? 'invalid_input' : 'invalid_request',
    })
  })

  test('at once if nobody is signed in, before its body has arrived', async () => {
    const body = new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from('--x')) })
    const init = {
      method: 'POST',
      headers: { 'content-type': 'multipart/form-data; boundary=x', accept: 'application/json' },
      body,
      duplex: 'half',
    }
    expect((await fetch(pages.importsOf('1'), init as RequestInit)).status).toBe(401)
  })
})

test('an upload that its sender aborts leaves no file and no open handle', async () => {
  const { cookieOf, importsOf, fresh, visitor, app, catalogueJson } = pages
  const { imports } = await catalogueJson(fresh)
  const folder = join(app.config.dataDir, 'imports')
  const handles = () => readdirSync('/proc/self/fd').length
  const open = handles()
  for (let count = 0; count < 5; count++) {
    const broken = new AbortController()
    const head = '--b\r\ncontent-disposition: form-data; name="file"; filename="x.csv"\r\n\r\ncode,price\n'
    const body = new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from(head)) })
    const headers = { cookie: cookieOf(visitor), 'content-type': 'multipart/form-data; boundary=b' }
    const init = { method: 'POST', headers, body, duplex: 'half', signal: broken.signal } as RequestInit
    const sent = fetch(importsOf(fresh), init).catch(() => {})
    // By then the app has begun to write the file.
    await vi.waitFor(() => expect(readdirSync(folder)).not.toEqual([]), { timeout: 5_000, interval: 5 })
    broken.abort()
    await sent
    await vi.waitFor(() => expect(readdirSync(folder)).toEqual([]), { timeout: 5_000, interval: 10 })
  }
  await vi.waitFor(() => expect(handles()).toBeLessThanOrEqual(open + 3), { timeout: 5_000, interval: 10 })
  expect((await catalogueJson(fresh)).imports).toEqual(imports)
  expect(app.logLines.join()).not.toContain('internal_error')
})
