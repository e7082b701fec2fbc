import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createCatalogues } from '../../../../../src/features/catalogues/catalogues.ts'
import { openClient, type RunningSandbox, startSandbox } from '../../../../support/sandbox.ts'

const SUPPLIER = 'summit-supplies'

let sandbox: RunningSandbox
let client: ReturnType<typeof openClient>
beforeAll(async () => {
  sandbox = await startSandbox({
    features: { 'catalogue-files': { importTiming: { itemsPerSecond: 1_000_000, settleMs: 50 } } },
  })
  client = openClient(sandbox.url, SUPPLIER)
})
afterAll(async () => {
  await client.close()
  await sandbox.close()
})

const newCatalogue = async (name: string) =>
  (await createCatalogues(client.api).create(client.source, { name, scope: 'Public' })).id
const start = (id: string, body: object) => sandbox.call(SUPPLIER, `/catalogues/${id}/import/start`, body)
const itemCount = async (id: string) => {
  const answer = await fetch(`${sandbox.url}/sandbox/catalogues/${id}/items?top=5000`)
  return ((await answer.json()) as { items: [] }).items.length
}

test('a batch has at most 1000 items', async () => {
  const id = await newCatalogue('Batches')
  await start(id, { batchId: 'b' })
  const items = (count: number) => Array.from({ length: count }, (_, at) => ({ code: `C${at}`, price: 1 }))
  const upload = async (count: number) =>
    (await sandbox.call(SUPPLIER, `/catalogues/${id}/import/b/items`, { items: items(count) })).status
  expect(await upload(1001)).toBe(400)
  expect(await itemCount(id)).toBe(0)
  expect(await upload(1000)).toBe(202)
  expect(await itemCount(id)).toBe(1000)
})

test('a batch id that is in use is rejected, and its import is still there', async () => {
  const id = await newCatalogue('Twice')
  expect((await start(id, { batchId: 'same' })).status).toBe(201)
  expect((await start(id, { batchId: 'same' })).status).toBe(409)
  const found = await sandbox.call(SUPPLIER, `/catalogues/${id}/import/same`)
  expect(await found.json()).toMatchObject({ batchId: 'same', status: 'Started', itemsReceived: 0 })
})

test('an import without a valid batch id is rejected in plain words', async () => {
  const id = await newCatalogue('No id')
  const message = 'batchId must be text of 1 to 200 characters'
  for (const body of [{}, { batchId: '' }, { batchId: 'x'.repeat(201) }]) {
    const answer = await start(id, body)
    expect([answer.status, await answer.json()]).toEqual([400, { error: 'invalid_body', message }])
  }
})

test('an import is started, processing, then completed, or failed by its fault, and accepts no more items then', async () => {
  const id = await newCatalogue('States')
  let now = Date.now()
  vi.spyOn(Date, 'now').mockImplementation(() => now)
  let batch = 'b'
  const state = async () =>
    (await (await sandbox.call(SUPPLIER, `/catalogues/${id}/import/${batch}`)).json()) as { status: string }
  const upload = async () => {
    const body = { items: [{ code: 'A', price: 1 }] }
    return (await sandbox.call(SUPPLIER, `/catalogues/${id}/import/${batch}/items`, body)).status
  }
  await start(id, { batchId: batch })
  expect(await state()).toMatchObject({ status: 'Started', itemsReceived: 0 })
  expect(await upload()).toBe(202)
  expect(await state()).toMatchObject({ status: 'Processing', itemsReceived: 1 })
  now += 1_000
  expect(await state()).toMatchObject({ status: 'Completed', itemsReceived: 1, itemsProcessed: 1 })
  expect(await upload()).toBe(409)
  batch = 'other'
  await start(id, { batchId: batch })
  await upload()
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ endpoint: 'import', fault: 'failed', times: 1 })
  await fetch(`${sandbox.url}/sandbox/faults`, { method: 'POST', headers, body })
  now += 1_000
  for (let asked = 0; asked < 2; asked++)
    expect(await state()).toMatchObject({ status: 'Failed', itemsReceived: 1 })
  expect(await upload()).toBe(409)
})
