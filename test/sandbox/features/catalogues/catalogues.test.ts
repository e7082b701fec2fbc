import { afterAll, beforeAll, expect, test } from 'vitest'
import { createCatalogues } from '../../../../src/features/catalogues/catalogues.ts'
import { openClient, type RunningSandbox, startSandbox } from '../../../support/sandbox.ts'

let sandbox: RunningSandbox
beforeAll(async () => {
  sandbox = await startSandbox()
})
afterAll(() => sandbox.close())

test('another business cannot change a catalogue', async () => {
  const path = '/catalogues/harbour-homes-C100/accesscontrols'
  const body = { externalRef: 'A', isPreApproved: false }
  expect((await sandbox.call('summit-supplies', path, body)).status).toBe(404)
  expect((await sandbox.call('harbour-homes', path, body)).status).toBe(201)
})

test.each([
  ['', {}, 'name must be text of 1 to 200 characters; scope must be Public or Managed'],
  ['', { name: '', scope: 'Public' }, 'name must be text of 1 to 200 characters'],
  ['', { name: 'x'.repeat(201), scope: 'Public' }, 'name must be text of 1 to 200 characters'],
  ['', [], 'the body must be a JSON object'],
  ['/summit-supplies-C100/accesscontrols', {}, 'externalRef must be 1 to 255 letters and digits'],
  [
    '/summit-supplies-C100/accesscontrols',
    { externalRef: 'a', isPreApproved: 1 },
    'isPreApproved must be true or false',
  ],
])('a body for /catalogues%s that is not valid is rejected in plain words', async (path, body, message) => {
  const answer = await sandbox.call('summit-supplies', `/catalogues${path}`, body)
  expect([answer.status, await answer.json()]).toEqual([400, { error: 'invalid_body', message }])
})

test.each(['', 'a b', 'x'.repeat(256), 'ref-1', 'é'])(
  'the client rejects the ExternalRef %j before any request',
  async (externalRef) => {
    const { api, source, close } = openClient(sandbox.url, 'summit-supplies')
    const calls = async () => {
      const answer = await fetch(`${sandbox.url}/sandbox/faults`, { headers: { accept: 'application/json' } })
      return ((await answer.json()) as { calls: [] }).calls.length
    }
    const before = await calls()
    const grant = createCatalogues(api).grantAccess(source, '1', { externalRef, isPreApproved: false })
    await expect(grant).rejects.toThrow('letters and digits')
    expect(await calls()).toBe(before)
    await close()
  },
)
