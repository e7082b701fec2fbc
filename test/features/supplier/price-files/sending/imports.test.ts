/** Sending on the pages of the app, into the sandbox. */
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { connected } from '../../../../support/flow.ts'
import { type Pages, rowsOf, SAM, startPages } from '../pages-support.ts'
import { readHere } from '../read-here.ts'

let pages: Pages
let to: string
beforeAll(async () => {
  pages = await startPages()
})
afterAll(() => pages.close())
beforeEach(async () => {
  readHere()
  await fetch(`${pages.app.platform}/sandbox/faults`, { method: 'DELETE' })
  to = await pages.newCatalogue('Another')
})

const SOON = { timeout: 10_000, interval: 50 }
const upload = async (rows: number) => (await pages.upload(rowsOf(rows), { to })).json
const textOf = async (id: string) => (await pages.visitor.get(pages.urlOf(id))).text

describe('an import', () => {
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
    expect((await pages.act(id, 'stop')).json()).toMatchObject({ state: 'stopped', problem: null })
    expect(await textOf(id)).toMatch(
      /stopped<\/span>[\s\S]*Resume<\/button>[\s\S]*stays in “Another”: 0 of 2,500 items/,
    )
    await pages.app.fault('items', 'none')
    expect((await pages.act(id, 'resume')).status).toBe(202)
    expect(await pages.ended(id)).toMatchObject({ state: 'completed', progress: { sent: 2500 } })
  })

  test('that runs or has failed is a link on the card of its connection', async () => {
    const { id } = await upload(1500)
    await pages.app.fault('items', '429', undefined, 1)
    await pages.send(id)
    await pages.waiting(id)
    const card = async () => (await pages.visitor.get(`${pages.app.url}/connections`)).text
    expect(await card()).toMatch(new RegExp(`/imports/${id}"[^>]*>Import of my prices.csv<`))
    await pages.app.fault('import', 'failed', 1)
    await pages.app.fault('items', 'none')
    const problem = expect.stringMatching(/could not complete .*stopped by an internal fault of the platform/)
    expect(await pages.ended(id)).toMatchObject({ state: 'failed', problem })
    expect(await textOf(id)).toContain('Send again')
    expect(await card()).toMatch(new RegExp(`/imports/${id}"[^>]*>Import of my prices.csv \\(failed\\)<`))
    await pages.act(id, 'discard')
    expect(await card()).not.toContain(id)
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
      problem: expect.stringContaining('Reconnect'),
    })
    expect(await textOf(id)).toContain('>Send again')
  })
})
