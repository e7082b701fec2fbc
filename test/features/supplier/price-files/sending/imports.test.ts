/** Sending on the pages of the app, into the sandbox. */
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { waitingNotices } from '../../../../../src/web/notice.ts'
import { connected } from '../../../../support/flow.ts'
import { type Pages, rowsOf, SAM, startPages } from '../pages-support.ts'

let pages: Pages
let to: string
beforeAll(async () => {
  pages = await startPages()
})
afterAll(() => pages.close())
beforeEach(async () => {
  await fetch(`${pages.app.platform}/sandbox/faults`, { method: 'DELETE' })
  to = await pages.newCatalogue('Another')
})

const SOON = { timeout: 10_000, interval: 50 }
const upload = async (rows: number) => (await pages.upload(rowsOf(rows), { to })).json
const textOf = async (id: string) => (await pages.visitor.get(pages.urlOf(id))).text

describe('an import', () => {
  test('that the platform fails says so, and is resumed', async () => {
    const { id } = await upload(1500)
    await pages.app.fault('import', 'failed', 1)
    await pages.send(id)
    const failure = expect.stringMatching(/could not complete .*stopped by an internal fault of the platform/)
    expect(await pages.ended(id)).toMatchObject({ state: 'failed', failure })
    expect(await textOf(id)).toContain('Send again')
    expect((await pages.act(id, 'resume')).status).toBe(202)
    expect(await pages.ended(id)).toMatchObject({ state: 'completed', failure: null })
  })

  test('of which the platform refuses an upload shows the items and the message, without the token', async () => {
    const { id } = await upload(3)
    await pages.app.fault('item', 'refused', 1)
    await pages.send(id)
    await pages.ended(id)
    expect(await textOf(id)).toMatch(
      /refused the upload that begins with “C0” and said: [^<]*the unit of C0 is unknown[^<]*Bearer …</,
    )
  })

  test('that waits for the platform says so, can be stopped, and goes on when it is resumed', async () => {
    const { id } = await upload(2500)
    await pages.app.fault('items', '429', undefined, 1)
    expect((await pages.send(id)).status).toBe(202)
    await pages.waiting(id, /is busy/)
    // Another one into the catalogue is refused.
    expect(await pages.send((await upload(2)).id)).toMatchObject({ status: 409 })
    expect((await pages.act(id, 'stop')).json()).toMatchObject({ state: 'stopped', failure: null })
    expect(await textOf(id)).toMatch(
      /stopped<\/span>[\s\S]*Resume<\/button>[\s\S]*stays in “Another”: 0 of 2,500 items/,
    )
    await pages.app.fault('items', 'none')
    expect((await pages.act(id, 'resume')).status).toBe(202)
    expect(await pages.ended(id)).toMatchObject({ state: 'completed', progress: { sent: 2500 } })
  })

  test('that has ended is a notice on the next page, once, unless its own page was seen or it was discarded', async () => {
    const { app, visitor, urlOf } = pages
    const { id } = await upload(3)
    await pages.send(id)
    await pages.ended(id)
    const notice =
      /class="notice"[^>]*>Import of my prices\.csv: 3 items sent to “Another”\. <a href="([^"]+)">/
    const page = async () => (await visitor.get(`${app.url}/connections`)).text
    await vi.waitFor(
      async () => expect(notice.exec(await page())?.[1]).toBe(new URL(urlOf(id)).pathname),
      SOON,
    )
    expect(await page()).not.toMatch(notice)
    const waiting = () => waitingNotices(app.services.store, 'sam')
    for (const end of ['seen', 'discarded']) {
      const next = (await upload(2)).id
      await pages.send(next)
      await vi.waitFor(async () => expect(await waiting()).toContain(next), SOON)
      if (end === 'discarded') expect((await pages.act(next, 'discard')).status).toBe(200)
      else expect(await textOf(next)).toContain('has completed the import')
      expect(await waiting(), end).toBeNull()
    }
  })

  test('tells open pages its progress and its completion', async () => {
    const { id } = await upload(2000)
    await pages.app.fault('items', '500', 2)
    await pages.send(id)
    const versions = new Set<string>()
    const look = async () => {
      versions.add((await pages.visitor.get(`${pages.urlOf(id)}/live`)).json().version)
      return (await pages.jobOf(id)).state
    }
    await vi.waitFor(async () => expect(await look()).toBe('completed'), SOON)
    await look()
    expect(versions.size).toBeGreaterThan(2)
  })

  test('whose record another version has written is not found, hides no others, and is deleted and logged once', async () => {
    const { services, logLines } = pages.app
    const { id } = await upload(2)
    const key = { kind: 'import', owner: 'sam', id: 'broken' }
    await services.store.set(key, '{"format":2,"state":')
    expect(await pages.jobOf('broken')).toMatchObject({ status: 404 })
    expect((await pages.catalogueJson(to)).imports.map((job) => job.id)).toEqual([id])
    for (let count = 0; count < 2; count++) await upload(1)
    expect(await services.store.get(key)).toBeNull()
    expect(logLines.filter((line) => line.includes('"importId":"broken"'))).toHaveLength(1)
  })

  test('whose access was revoked meanwhile fails: its page offers to reconnect, and then to send again', async () => {
    const { id } = await upload(10)
    await pages.app.fault('items', '500', undefined, 1)
    await pages.send(id)
    await pages.waiting(id)
    await pages.app.sandbox('revoke')
    await pages.app.fault('items', 'none')
    await vi.waitFor(async () => expect(await pages.jobOf(id)).toMatchObject({ status: 409 }), SOON)
    expect(await textOf(id)).toContain('>Reconnect')
    await connected(pages.app, SAM)
    expect(await pages.ended(id)).toMatchObject({
      state: 'failed',
      failure: expect.stringContaining('Reconnect'),
    })
    expect(await textOf(id)).toContain('>Send again')
  })
})
