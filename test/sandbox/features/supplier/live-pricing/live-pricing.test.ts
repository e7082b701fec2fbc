import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Router } from 'express'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { loadPriceList } from '../../../../../src/features/supplier/live-pricing/csv-price-provider/load.ts'
import { priceListFolder } from '../../../../../src/features/supplier/live-pricing/csv-price-provider/price-list.ts'
import { createItems } from '../../../../../src/sandbox/features/catalogues/items.ts'
import { SAMPLE_MEMBERS } from '../../../../../src/sandbox/features/supplier/builder-requests/suppliers.ts'
import { loadSandboxFeatures, type NamedSandboxFeature } from '../../../../../src/sandbox/load.ts'
import {
  SAMPLE as SAMPLE_FOLDER,
  SMALL,
  writeFiles,
} from '../../../../features/supplier/live-pricing/support.ts'
import { type Running, startAll } from '../../../../support/app.ts'
import { serve } from '../../../../support/ports.ts'
import { startSandbox } from '../../../../support/sandbox.ts'
import { probe } from '../../../../support/sandbox-probe.ts'
import { createVisitor, type Visitor } from '../../../../support/visitor.ts'

const FEATURES = await loadSandboxFeatures()

/** The client as which the sandbox calls the app's live pricing. */
const PRICING_CLIENT = { clientId: 'sandbox-platform', clientSecret: 'sandbox-platform-secret' }

const SUPPLIER = 'summit-supplies'
const items = [
  { code: 'A', name: 'Board', unit: 'each', price: 14 },
  { code: 'C', name: 'Beam', unit: 'each', price: 90 },
  { code: 'GONE', name: 'Discontinued', unit: 'each', price: 1 },
]
const SAMPLE = {
  catalogues: { samples: { [SUPPLIER]: { id: 'range', name: 'Range', items } } },
  'builder-requests': {
    connected: [{ builder: 'ridgeline-build', supplier: SUPPLIER, externalRef: 'CUST1' }],
  },
}
/** `POST /api/imports/ID` adds an import of one item to a catalogue, which completes after this many ms. */
const imports: NamedSandboxFeature = {
  name: 'imports',
  create: ({ sql }) => ({
    api: Router().post('/imports/:id', (req, res) => {
      const { id } = req.params
      createItems(sql).put(id, { code: 'A', price: 14 }, 1)
      const insert =
        "INSERT OR REPLACE INTO imports (catalogue, batch_id, received, started_at, completes_at) VALUES (?, 'b', 1, 0, ?)"
      sql.run(insert, id, Date.now() + Number(req.query.in))
      res.json({})
    }),
  }),
}
const RANGE = `/suppliers/ridgeline-build/${SUPPLIER}/range`

let app: Running
let builder: Visitor
beforeAll(async () => {
  app = await startAll({}, { features: SAMPLE, simulated: [...FEATURES, probe, imports] })
  const { dataDir } = app.config
  await loadPriceList(writeFiles(join(dataDir, 'csv'), SMALL), priceListFolder(dataDir))
  builder = await logIn('marcus@ridgeline.example')
  await vi.waitFor(async () => expect((await prices({ ...NEAR, item: 'A' })).text).toContain('$12.50'), 5_000)
})
afterAll(() => app.close())

async function logIn(email: string): Promise<Visitor> {
  const visitor = createVisitor()
  await visitor.post(`${app.platform}/login`, { form: { email, password: 'sandbox' } })
  return visitor
}

/** The calls of live pricing that the sandbox made during `work`, in order. */
async function callsOf(work: () => Promise<unknown>): Promise<string[]> {
  const list = async () => (await app.calls()).filter(({ endpoint }) => endpoint.startsWith('live pricing'))
  const before = (await list()).length
  await work()
  const after = await list()
  return after
    .slice(0, after.length - before)
    .map(({ endpoint, status }) => `${endpoint.slice(14)} ${status}`)
    .reverse()
}

const prices = async (query: Record<string, string | string[]>, catalogue = RANGE) => {
  const params = new URLSearchParams()
  for (const [name, values] of Object.entries(query))
    for (const value of [values].flat()) params.append(name, value)
  return builder.get(`${app.platform}${catalogue}/live-prices?${params}`)
}
const NEAR = { address: '-37.8, 145', radius: '20' }

describe('a builder’s live prices', () => {
  test('come from the supplier over HTTP, for the member, next to the RRP; errors belong to their items', async () => {
    const { text } = await prices({ ...NEAR, item: ['A', 'C', 'GONE'], quantity: ['2.4', '1', '1'] })
    const rows = text.split('<tr>').map((row) => row.replaceAll(/<[^>]+>|\s+/g, ' ').replaceAll(/ +/g, ' '))
    const row = (name: string) => rows.find((one) => one.includes(name))
    expect(row('Board')).toMatch(/\$14\.00 \$12\.50 −\$3\.00 \$27\.00/)
    expect(row('Beam')).toMatch(/\$90\.00 The price of this item .* on application.* price_on_application/)
    expect(row('Discontinued')).toMatch(/This item does not exist\. item_unknown/)
    expect(text).toContain('1 of 3 items priced')
  })

  test('can be requested by address, and for a member number that the builder enters', async () => {
    const place = { address: '1 High Street, Northcote', radius: '10' }
    const { text } = await prices({ ...place, item: 'A', member: 'NOBODY' })
    expect(text).toContain('First')
    expect(text).toContain('member_unknown')
    const member = await prices({ ...place, item: 'A', member: 'CUST1' })
    expect(member.text).not.toContain('member_unknown')
  })

  test.each(['Atlantis', ''])('the address "%s" is reported, and nothing is requested', async (address) => {
    const calls = await callsOf(async () =>
      expect((await prices({ address, item: 'A' })).text).toContain('Enter a suburb or town'),
    )
    expect(calls).toEqual([])
  })

  test.each([
    { ...NEAR, address: '91, 1' },
    { ...NEAR, radius: '-1' },
  ])('a place or distance that the supplier refuses is reported: %o', async (place) => {
    const { text } = await prices({ ...place, item: 'A' })
    expect(text).toContain('answered with the status 400 (request: stores)')
  })

  test('reports when no store is in range', async () => {
    const { text } = await prices({ ...NEAR, address: '10, 145', item: 'A' })
    expect(text).toContain('No stores within 20 km')
  })

  test('are never requested for items that are not in the catalogue, not visible, or not published', async () => {
    const headers = { authorization: `Bearer probe-${SUPPLIER}`, 'content-type': 'application/json' }
    const post = async (path: string, body: object = {}) => {
      const init = { method: 'POST', headers, body: JSON.stringify(body) }
      return (await fetch(`${app.platform}/api${path}`, init)).json() as Promise<{ id: string }>
    }
    const { id } = await post('/catalogues', { name: 'Unpublished', scope: 'Public' })
    const unpublished = `/suppliers/ridgeline-build/${SUPPLIER}/${id}`
    const early = async () => {
      const { status, text } = await prices({ ...NEAR, item: 'A' }, unpublished)
      expect([status, text]).toEqual([409, expect.stringContaining('not published yet')])
    }
    const calls = await callsOf(async () => {
      expect((await prices({ ...NEAR, item: ['A', 'OTHER'] })).status).toBe(400)
      const unknown = `/suppliers/ridgeline-build/${SUPPLIER}/none`
      expect((await prices({ ...NEAR, item: 'A' }, unknown)).status).toBe(404)
      await early()
      await post(`/imports/${id}?in=60000`)
      await early()
    })
    expect(calls).toEqual([])
    await post(`/imports/${id}?in=0`)
    expect((await prices({ ...NEAR, item: 'A' }, unpublished)).text).toContain('$12.50')
  })
})

describe('a supplier’s live pricing', () => {
  /** The page of live prices in a sandbox whose supplier answers like this, or has registered nothing. */
  async function pricesFrom(handler?: Parameters<typeof serve>[0]) {
    const supplier = await serve(handler)
    const registration = { url: `http://localhost:${supplier.port}`, clientId: 'a', clientSecret: 'b' }
    const features = {
      ...SAMPLE,
      'live-pricing': { registered: handler ? { [SUPPLIER]: registration } : {} },
    }
    const sandbox = await startSandbox({ features })
    onTestFinished(async () => {
      await sandbox.close()
      await supplier.close()
    })
    const marcus = await sandbox.logIn('marcus@ridgeline.example')
    const query = new URLSearchParams({ ...NEAR, item: 'A' })
    const page = await marcus.get(`${sandbox.url}${RANGE}/live-prices?${query}`)
    return { text: page.text, catalogue: (await marcus.get(sandbox.url + RANGE)).text }
  }

  test('is shown in Business setup, without its secret', async () => {
    const supplier = await logIn('priya@summit.example')
    const { text } = await supplier.get(`${app.platform}/business-setup`)
    expect(text).toContain(`${app.url}/live-pricing`)
    expect(text).toContain(PRICING_CLIENT.clientId)
    expect(text).not.toContain(PRICING_CLIENT.clientSecret)
  })

  test.each<[string, number, string, RegExp]>([
    ['rejects the credentials', 401, '{}', /answered with the status 401 \(request: token\)/],
    ['gives no token', 200, '{}', /answered with something unexpected \(request: token\)/],
    ['does not answer with JSON', 200, 'oops', /answered with something unexpected \(request: token\)/],
    ['fails', 500, '{}', /answered with the status 500 \(request: token\)/],
  ])('that %s is reported', async (_, status, body, words) => {
    const { text } = await pricesFrom((_req, res) =>
      res.writeHead(status, { 'content-type': 'application/json' }).end(body),
    )
    expect(text).toMatch(words)
  })

  test.each<[string, unknown, string]>([
    ['a total without a unit price', { unitPrice: null, discount: 0, totalPrice: 5 }, 'gives no price'],
    ['amounts that do not add up', { unitPrice: 2, discount: 0, totalPrice: 99 }, 'does not add up'],
    ['amounts that are text', { unitPrice: '2', discount: '0', totalPrice: '2' }, 'gives no price'],
    [
      'the price of another item',
      { itemId: 'C', unitPrice: 2, discount: 0, totalPrice: 2 },
      'another item or store',
    ],
    ['null', null, 'gives no price'],
  ])('that answers %s is reported at the item', async (_, answer, words) => {
    const { text } = await pricesFrom((req, res) => {
      const json = (body: unknown) =>
        res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
      if (req.url === '/connect/token')
        return json({ access_token: 't', token_type: 'Bearer', expires_in: 900 })
      if (req.url?.startsWith('/stores')) return json([{ id: 'S1', name: { toString: 1 } }])
      return json([answer && { itemId: 'A', storeId: 'S1', ...answer }])
    })
    expect(text).toContain(words)
  })

  test('that is not registered is reported, and its catalogue offers no live prices', async () => {
    const { text, catalogue } = await pricesFrom()
    expect(catalogue).not.toContain('Live prices')
    expect(text).toContain('has not registered live pricing')
  })
})

test('the account numbers that the sandbox suggests are the members of the sample price list', () => {
  const [, ...rows] = readFileSync(join(SAMPLE_FOLDER, 'members.csv'), 'utf8').trim().split(/\r?\n/)
  expect(SAMPLE_MEMBERS).toEqual([...new Set(rows.map((row) => row.split(',')[0]))])
})

test('picked items stay picked during a search, at most 50 are priced, and a visitor must log in first', async () => {
  const { text } = await builder.get(`${app.platform}${RANGE}?q=bea&item=A&item=C`)
  expect(text).toContain('<input type="hidden" name="item" value="A">')
  expect(text).toMatch(/value="C"[^>]* checked/)
  const many = await prices({ ...NEAR, item: Array.from({ length: 51 }, (_, at) => `X${at}`) })
  expect([many.status, many.text]).toEqual([400, expect.stringContaining('At most 50 items')])
  const stranger = await createVisitor().get(`${app.platform}${RANGE}/live-prices?item=A`)
  expect([stranger.status, stranger.headers.get('location')]).toEqual([
    303,
    expect.stringContaining('/login'),
  ])
})
