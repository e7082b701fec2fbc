import { afterAll, beforeAll, expect, test } from 'vitest'
import { createCatalogues } from '../../../../src/features/catalogues/catalogues.ts'
import { openClient, type RunningSandbox, startSandbox } from '../../support.ts'

const RANGE = '/suppliers/ridgeline-build/summit-supplies/range'

let sandbox: RunningSandbox
beforeAll(async () => {
  const items = [
    { code: 'A', name: 'Board', price: 14 },
    { code: 'C', name: 'Beam', price: 90 },
    { code: 'GONE', name: 'Discontinued', price: 1 },
  ]
  sandbox = await startSandbox({
    features: {
      catalogues: {
        samples: { 'summit-supplies': { id: 'range', name: 'Range', items } },
        connected: [{ builder: 'ridgeline-build', supplier: 'summit-supplies', externalRef: 'CUST1' }],
      },
    },
  })
})
afterAll(() => sandbox.close())

test('a Public catalogue is visible to every connected builder, a Managed one only to those granted', async () => {
  const create = async (scope: 'Public' | 'Managed') => {
    const answer = await sandbox.call('summit-supplies', '/catalogues', { name: `${scope} list`, scope })
    return ((await answer.json()) as { id: string }).id
  }
  const [open, managed] = [await create('Public'), await create('Managed')]
  const connected = await sandbox.logIn('marcus@ridgeline.example')
  const stranger = await sandbox.logIn('olivia@harbour.example')
  const status = async (id: string) =>
    (await connected.get(`${sandbox.url}/suppliers/ridgeline-build/summit-supplies/${id}`)).status
  const grant = (externalRef: string) =>
    sandbox.call('summit-supplies', `/catalogues/${managed}/accesscontrols`, { externalRef })
  expect([await status(open), await status(managed)]).toEqual([200, 404])
  await grant('OTHER')
  expect(await status(managed)).toBe(404)
  await grant('CUST1')
  expect(await status(managed)).toBe(200)
  expect((await stranger.get(`${sandbox.url}/suppliers`)).text).not.toContain(open)
})

test('a supplier’s catalogues are a table with scope and number of items: the first eight, and the rest on request', async () => {
  const builder = await sandbox.logIn('marcus@ridgeline.example')
  const { text } = await builder.get(`${sandbox.url}/suppliers`)
  const card = text.split('<section').find((section) => section.includes('Summit Building Supplies')) ?? ''
  const [first = '', rest = ''] = card.split('<details>')
  expect(first).toMatch(/>Range<\/a><\/th>\s*<td[^>]*>Public<\/td>\s*<td[^>]*>3<\/td>/)
  expect(first.match(/href=/g)).toHaveLength(8)
  const count = rest.match(/href=/g)?.length
  expect(count).toBeGreaterThan(8)
  expect(rest).toContain(`<summary>${count} more catalogues</summary>`)
})

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

test('items are found by code or name, page by page', async () => {
  const builder = await sandbox.logIn('marcus@ridgeline.example')
  const found = async (query: string) => {
    const { text } = await builder.get(`${sandbox.url}${RANGE}?${query}`)
    return ['Board', 'Beam', 'Discontinued'].filter((name) => text.includes(`>${name}<`))
  }
  expect(await found('q=bea')).toEqual(['Beam'])
  expect(await found('q=gone')).toEqual(['Discontinued'])
  expect(await found('q=%25')).toEqual([])
  expect(await found('after=A')).toEqual(['Beam', 'Discontinued'])
})
