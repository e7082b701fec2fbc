import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Running, startAll } from '../../../../support/app.ts'
import { fileForm } from '../../../../support/file-form.ts'
import { watchSecrets } from '../../../../support/secrets.ts'
import { FAST } from './support.ts'

let app: Running
beforeAll(async () => {
  app = await startAll({ LOG_LEVEL: 'trace' }, { features: FAST })
})
afterAll(() => app.close())

test('after every import and fault, no secret is in a log line, page, error, or url sent to another origin', async () => {
  const watch = await watchSecrets(app)
  const { visitor } = watch
  const at = `${app.url}/connections/harbour-homes/catalogues`
  const accept = 'application/json'

  /** A file, from its check to its end. */
  async function importOnce(): Promise<void> {
    const form = { name: 'Prices', scope: 'Managed' }
    const { id } = (await visitor.post(at, { form, accept })).json()
    const path = `${at}/${id}/import`
    await visitor.post(path, { ...fileForm('code,price\nA1,$1\n') })
    const { difference } = (await visitor.post(path, { ...fileForm('code,price\nA1,1\n'), accept })).json()
    await visitor.get(path)
    await visitor.post(`${path}/send`, { form: { code: difference?.code ?? '' } })
    const over = async () => {
      const { state } = (await visitor.get(path, { accept })).json()
      expect(state).not.toBe('running')
    }
    await vi.waitFor(over, 30_000)
    for (const shown of [path, `${path}/live`, `${at}/${id}`]) await visitor.get(shown)
    await watch.collect()
  }

  await watch.connect()
  await importOnce()
  const faults = { items: ['garbage', 'expired', 'forbidden'], item: ['refused'], import: ['failed'] }
  for (const [endpoint, kinds] of Object.entries(faults))
    for (const fault of kinds) {
      await app.fault(endpoint, fault, 1)
      await importOnce()
    }
  expect(watch.answers.length).toBeGreaterThan(30)
  watch.expectNoLeaks()
})
