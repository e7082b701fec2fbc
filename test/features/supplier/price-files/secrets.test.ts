import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Running, startAll } from '../../../support/app.ts'
import { fileForm } from '../../../support/file-form.ts'
import { watchSecrets } from '../../../support/secrets.ts'
import { readHere } from './read-here.ts'
import { FAST } from './support.ts'

let app: Running
beforeAll(async () => {
  app = await startAll({ LOG_LEVEL: 'trace' }, { features: FAST })
})
afterAll(() => app.close())

test('after every import and fault, no secret is in a log line, page, error, or url sent to another origin', async () => {
  readHere()
  const watch = await watchSecrets(app)
  const { visitor } = watch
  const at = `${app.url}/connections/harbour-homes`
  const accept = 'application/json'

  const form = { name: 'Prices', scope: 'Managed' }
  const newCatalogue = async () => (await visitor.post(`${at}/catalogues`, { form, accept })).json().id

  /** A price file, from its upload to its end. */
  async function importOnce(id: string): Promise<void> {
    await visitor.get(`${at}/catalogues`)
    await newCatalogue()
    await visitor.post(`${at}/catalogues/${id}/access-controls`, { form: { externalRef: 'CUST1' } })
    const csv = { ...fileForm('code,price\nA1,1\n,2\n'), accept }
    const job = (await visitor.post(`${at}/catalogues/${id}/imports`, csv)).json()
    const importUrl = `${at}/imports/${job.id}`
    const form = { headingsRow: '1', units: '1', money: 'AUD before GST', 'use-1': 'code', 'use-2': 'price' }
    if (job.id) {
      await visitor.post(`${importUrl}/choice`, { form: { ...form, seen: job.checkId, do: 'continue' } })
      const { checkId } = (await visitor.get(importUrl, { accept })).json()
      await visitor.post(`${importUrl}/send`, { form: { seen: checkId, confirm: 'on' } })
    }
    const state = async () => (await visitor.get(importUrl, { accept })).json().state
    if (job.id) await vi.waitFor(async () => expect(await state()).not.toBe('running'), 30_000)
    for (const path of ['', '/live']) await visitor.get(importUrl + path)
    await watch.collect()
  }

  await watch.connect()
  const id = await newCatalogue()
  await importOnce(id)
  const faults = {
    items: ['garbage', 'expired', 'forbidden'],
    item: ['refused'],
    catalogues: ['500'],
  }
  for (const [endpoint, kinds] of Object.entries(faults))
    for (const fault of kinds) {
      await app.fault(endpoint, fault, 1)
      await importOnce(id)
    }
  expect(watch.answers.length).toBeGreaterThan(50)
  watch.expectNoLeaks()
})
