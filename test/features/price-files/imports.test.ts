import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { waitingNotices } from '../../../src/web/notice.ts'
import { connected } from '../../support/flow.ts'
import { keyOf, type Pages, rowsOf, SAM, startPages } from './pages-support.ts'

let pages: Pages
beforeAll(async () => {
  pages = await startPages()
})
afterAll(() => pages.close())
beforeEach(() => fetch(`${pages.app.platform}/sandbox/faults`, { method: 'DELETE' }))

const SOON = { timeout: 20_000, interval: 50 }

describe('an import', () => {
  test('that the platform fails says so, and sending again resumes it', async () => {
    const { upload, act, ended, visitor, urlOf, app } = pages
    const { json } = await upload(rowsOf(2500))
    await app.fault('import', 'failed', 1)
    await act(json.id, 'start')
    expect(await ended(json.id)).toMatchObject({
      state: 'failed',
      failure: expect.stringMatching(/could not complete .*stopped by an internal fault of the platform/),
    })
    expect((await visitor.get(urlOf(json.id))).text).toContain('Send again')
    await act(json.id, 'start')
    expect(await ended(json.id)).toMatchObject({ state: 'completed', failure: null })
  })

  test('of which the platform refuses an upload shows the items and the message, without the token', async () => {
    const { upload, act, ended, visitor, urlOf, app } = pages
    const { json } = await upload(rowsOf(2500))
    await app.fault('item', 'refused', 1)
    await act(json.id, 'start')
    await ended(json.id)
    const { text } = await visitor.get(urlOf(json.id))
    expect(text).toMatch(/refused the upload that begins with “C0” and said: [^<]*the unit of C0 is unknown/)
    expect(text).toMatch(/is unknown\. Bearer …</)
  })

  test('that waits for the platform says so, can be stopped, and resumes afterwards', async () => {
    const { upload, act, ended, waiting, app, visitor, urlOf } = pages
    const { json } = await upload(rowsOf(2500))
    await app.fault('items', '429', undefined, 1)
    await act(json.id, 'start')
    await waiting(json.id, /is busy/)
    expect((await act(json.id, 'stop')).json()).toMatchObject({ state: 'stopped', failure: null })
    const { text } = await visitor.get(urlOf(json.id))
    expect(text).toContain('<span class="badge degraded">stopped</span>')
    expect(text).toContain('<dt>Stopped</dt>')
    expect(text).toContain('<button name="do" class="primary">Resume</button>')
    expect(text).not.toMatch(/class="alert"|Send again/)
    // What was sent so far can no longer be completed.
    expect(text).toMatch(
      /<details class="confirm quietly" id="discard-confirm">[\s\S]*stays in “Fresh”: 0 of 2,500 items[\s\S]*\/discard"/,
    )
    await app.fault('items', 'none')
    expect((await act(json.id, 'start')).status).toBe(202)
    expect(await ended(json.id)).toMatchObject({ state: 'completed' })
  })

  test('that has ended is a notice on the next page, once, unless its own page was seen or it was discarded', async () => {
    const { upload, act, ended, visitor, urlOf, app } = pages
    const { json } = await upload(rowsOf(3))
    await act(json.id, 'start')
    await ended(json.id)
    const elsewhere = `${app.url}/connections`
    const notice =
      /class="notice"[^>]*>Import of my prices\.csv: 3 items sent to “Fresh”\. <a href="([^"]+)">/
    await vi.waitFor(async () => {
      const [, link] = notice.exec((await visitor.get(elsewhere)).text) ?? []
      expect(link).toBe(new URL(urlOf(json.id)).pathname)
    }, SOON)
    expect((await visitor.get(elsewhere)).text).not.toMatch(notice)

    const waiting = () => waitingNotices(app.services.store, 'sam')
    for (const end of ['seen', 'discarded']) {
      const { id } = (await upload(rowsOf(2))).json
      await act(id, 'start')
      await vi.waitFor(async () => expect(await waiting()).toContain(id), SOON)
      if (end === 'discarded') await act(id, 'discard')
      else expect((await visitor.get(urlOf(id))).text).toContain('has completed the import')
      expect(await waiting(), end).toBeNull()
    }
  })

  test('sends open pages its progress and its completion', async () => {
    const { upload, act, jobOf, urlOf, cookieOf, visitor, app } = pages
    const { json } = await upload(rowsOf(5000))
    await app.fault('items', '500', 2)
    await act(json.id, 'start')
    const stream = await fetch(`${urlOf(json.id)}/live`, { headers: { cookie: cookieOf(visitor) } })
    expect(stream.headers.get('content-type')).toBe('text/event-stream')
    expect(await stream.text()).toMatch(/event: changed[\s\S]*event: done/)
    expect((await jobOf(json.id)).state).toBe('completed')
  })

  test('whose record another version has written is not found, does not hide the others, and is deleted and logged once', async () => {
    const { upload, jobOf, catalogueJson, newCatalogue, app } = pages
    const to = await newCatalogue('Records')
    const { json } = await upload(rowsOf(2), { to })
    await app.services.store.set(keyOf('broken'), '{"format":2,"state":')
    expect(await jobOf('broken')).toMatchObject({ status: 404 })
    expect((await catalogueJson(to)).imports.map(({ id }) => id)).toEqual([json.id])
    for (let count = 0; count < 2; count++) await upload(rowsOf(1), { to })
    expect(await app.services.store.get(keyOf('broken'))).toBeNull()
    const logged = app.logLines.filter((line) => line.includes('"importId":"broken"'))
    expect(logged).toHaveLength(1)
  })

  test('whose access was revoked fails: its page offers to reconnect, and then to send again', async () => {
    const { upload, act, jobOf, ended, app, visitor, urlOf, close } = await startPages()
    const { json } = await upload(rowsOf(10))
    await app.sandbox('revoke')
    await act(json.id, 'start')
    await vi.waitFor(async () =>
      expect(await jobOf(json.id)).toMatchObject({ status: 409, code: 'connection_revoked' }),
    )
    expect((await visitor.get(urlOf(json.id))).text).toContain('>Reconnect')
    await connected(app, SAM)
    expect(await ended(json.id)).toMatchObject({
      state: 'failed',
      failure: expect.stringContaining('Reconnect'),
    })
    expect((await visitor.get(urlOf(json.id))).text).toContain('>Send again')
    await close()
  })
})

describe('several imports of one user', () => {
  test('into one catalogue are all completed, one after the other', async () => {
    const { upload, act, ended, newCatalogue } = pages
    const to = await newCatalogue('Threads')
    const ids: string[] = []
    for (let count = 0; count < 3; count++) ids.push((await upload(rowsOf(1_500), { to })).json.id)
    await Promise.all(ids.map((id) => act(id, 'start')))
    for (const id of ids) expect(await ended(id)).toMatchObject({ state: 'completed' })
  })

  test('that wait for the platform do not block the reading of another file, and can be discarded', async () => {
    const { upload, act, waiting, jobOf, app } = pages
    await app.fault('items', '500', undefined, 1)
    const ids: string[] = []
    for (let count = 0; count < 2; count++) {
      const { id } = (await upload(rowsOf(1))).json
      await act(id, 'start')
      await waiting(id)
      ids.push(id)
    }
    const { json } = await upload(rowsOf(1))
    expect(json).toMatchObject({ state: 'ready', validRows: 1 })
    for (const id of [...ids, json.id]) {
      expect((await act(id, 'discard')).status).toBe(200)
      expect(await jobOf(id)).toMatchObject({ status: 404 })
    }
  })
})
