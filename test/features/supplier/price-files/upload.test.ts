import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { fileForm } from '../../../support/file-form.ts'
import { connected } from '../../../support/flow.ts'
import { JSON_TYPE, type Pages, rowsOf, startPages } from './pages-support.ts'
import { readHere } from './read-here.ts'
import { itemsOf } from './support.ts'

let pages: Pages
beforeAll(async () => {
  pages = await startPages({ MAX_UPLOAD_MB: '1' })
})
afterAll(() => pages.close())

describe('an uploaded price file', () => {
  test('is read before anything is sent, and what its JSON has is sent on demand', async () => {
    const { upload, send, act, ended } = pages
    const { status, json } = await upload(`${rowsOf(1500)},no code,1\nC1,again,2.50\n`)
    expect(status).toBe(201)
    expect(json).toMatchObject({
      fileName: 'my prices.csv',
      state: 'ready',
      bxcontext: 'summit-supplies',
      rows: 1502,
      rejected: 3,
    })
    expect(json.items).toHaveLength(1499)
    expect(json.items[0]).toEqual({ code: 'C0', name: 'Board 0', price: 1 })
    expect(json.reading.found?.examples).toHaveLength(10)
    expect(JSON.stringify(json)).not.toContain('userId')
    expect((await pages.app.calls()).some(({ endpoint }) => endpoint === 'items')).toBe(false)
    expect((await send(json.id)).status).toBe(202)
    expect(await ended(json.id)).toMatchObject({ state: 'completed', progress: { sent: 1499, batches: 2 } })
    const items = new Map(json.items.map((item) => [item.code, item]))
    expect(await itemsOf(pages.app.platform, pages.fresh)).toEqual(items)
    const { store } = pages.app.services
    await act(json.id, 'discard')
    expect(await pages.jobOf(json.id)).toMatchObject({ status: 404, code: 'not_found' })
    expect(await store.ofOwner(json.id)).toEqual([])
  })

  test('of which no row can be sent says so, and has no button to send', async () => {
    readHere()
    const { upload, visitor, urlOf } = pages
    const { json } = await upload('Code,RRP\nA,-1\n')
    const { text } = await visitor.get(urlOf(json.id))
    expect(text).toContain('Nothing can be sent')
    expect(text).not.toMatch(/>Send \d/)
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
    readHere()
    const { upload, urlOf, visitor, app } = pages
    const { json } = await upload(rowsOf(3))
    const other = await connected(app, { name: 'mallory' })
    for (const path of ['', '/live'])
      expect((await other.get(urlOf(json.id) + path, JSON_TYPE)).status, path).toBe(404)
    for (const path of ['/choice', '/send', '/resume', '/stop', '/discard'])
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
