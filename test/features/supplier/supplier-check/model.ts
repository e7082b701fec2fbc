import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json, text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { serve } from '../../../support/ports.ts'

// biome-ignore lint/suspicious/noExplicitAny: the answers of a wrong supplier have any shape
export type Any = any

export interface Answer {
  status: number
  body?: Any
}

export interface Line {
  itemId: string
  storeId: string
  quantity: number
}

/** The steps of a supplier, each of which a test can replace. */
export interface Steps {
  /** A token request. `fields`: the fields of the request's form. */
  token(fields: Record<string, string>, body: string): Answer
  tokenBody: Any
  nearest(query: URLSearchParams): Answer
  lookUp(id: string): Answer
  /** The answer to a line. */
  price(line: Line, member: string | undefined, lines: readonly Line[]): Any
  prices(request: Any): Answer
}

/** The difference between this supplier and a correct supplier. */
export type Change = (right: Steps) => Partial<Steps>

export const SECRET = 'Secret-of-the-Model-9'
const TOKEN = 'Token-of-the-Model'
const STORE = { id: 'north', latitude: -37.77, longitude: 145 }
const PRICES: Record<string, number> = { 'A-1': 10, 'B-2': 20.5 }

/** The command's file, with the facts about the model. */
export const FILE = {
  clientId: 'Platform-1',
  clientSecret: SECRET,
  near: { latitude: -37.8, longitude: 145 },
  store: 'north',
  prices: { 'A-1': 10, 'B-2': 20.5 },
  memberPrices: { 'M-1': { 'A-1': 9 } },
}

/** A line without a price. */
export const failed = (line: Line) => ({
  ...line,
  unitPrice: null,
  discount: null,
  totalPrice: null,
  errorCode: 'item_unknown',
  errorMessage: 'There is no such item.',
})

/** A line with a price. */
export const priced = (line: Line, unitPrice: number, discount: number) => ({
  ...line,
  unitPrice,
  discount,
  totalPrice: unitPrice * line.quantity - discount,
})

function createSteps(change: Change): Steps {
  const steps: Steps = {
    tokenBody: { access_token: TOKEN, token_type: 'Bearer', expires_in: 900 },
    token({ grant_type: type, client_id: id, client_secret: secret }) {
      if (type !== 'client_credentials' || !id || !secret) return { status: 400 }
      if (id !== FILE.clientId || secret !== SECRET) return { status: 401 }
      return { status: 200, body: steps.tokenBody }
    },
    nearest(query) {
      const isNear = Number(query.get('latitude')) === FILE.near.latitude
      return Number(query.get('radius')) > 0 ? { status: 200, body: isNear ? [STORE] : [] } : { status: 400 }
    },
    lookUp: (id) => (id === STORE.id ? { status: 200, body: STORE } : { status: 404 }),
    price(line, member) {
      const price = PRICES[line.itemId]
      const off = member === 'M-1' && line.itemId === 'A-1' ? 1 : 0
      return price === undefined ? failed(line) : priced(line, price, off * line.quantity)
    },
    prices({ items, memberNumber }) {
      if (!Array.isArray(items)) return { status: 400 }
      return { status: 200, body: items.map((line: Line) => steps.price(line, memberNumber, items)) }
    },
  }
  return Object.assign(steps, change({ ...steps }))
}

/** Starts a supplier that is correct except for `change`. Resolves to the path of a file about it. */
export async function startModel(change: Change = () => ({}), more: object = {}): Promise<string> {
  const steps = createSteps(change)
  const { port, close } = await serve(async (req, res) => {
    const { pathname: path, searchParams } = new URL(req.url ?? '', 'http://model')
    const answer = async (): Promise<Answer> => {
      if (path === '/connect/token') {
        const body = await text(req)
        return steps.token(Object.fromEntries(new URLSearchParams(body)), body)
      }
      if (req.headers.authorization !== `Bearer ${TOKEN}`) return { status: 401 }
      if (path === '/stores/nearest') return steps.nearest(searchParams)
      if (path === '/request-prices') return steps.prices(await json(req))
      return steps.lookUp(decodeURIComponent(path.replace('/stores/', '')))
    }
    const { status, body } = await answer()
    res
      .writeHead(status, { 'Content-Type': 'application/json' })
      .end(body === undefined ? '' : JSON.stringify(body))
  })
  const folder = await mkdtemp(join(tmpdir(), 'supplier-'))
  onTestFinished(async () => {
    await close()
    await rm(folder, { recursive: true })
  })
  const file = join(folder, 'supplier.json')
  await writeFile(file, JSON.stringify({ baseUrl: `http://localhost:${port}/`, ...FILE, ...more }))
  return file
}
