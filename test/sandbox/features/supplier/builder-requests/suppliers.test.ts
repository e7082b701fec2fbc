import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RunningSandbox, startSandbox } from '../../../../support/sandbox.ts'

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
      catalogues: { samples: { 'summit-supplies': { id: 'range', name: 'Range', items } } },
      'builder-requests': {
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
