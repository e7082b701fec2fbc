/** What live pricing is measured against: the same work by hand in node:http. Prices are in a Map, totals are exact to four decimals. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import { itemCode, placeOf, storeId } from '../price-folder.ts'

const ITEMS = Number(process.env.ITEMS)
const STORES = Number(process.env.STORES)
const RADIUS_M = 50_000

/** Prices in ten-thousandths of a dollar, by the code of the item. */
const prices = new Map<string, number>()
for (let item = 0; item < ITEMS; item++) prices.set(itemCode(item), ((item % 9_000) + 100) * 100)
const stores = Array.from({ length: STORES }, (_, index) => ({ id: storeId(index), ...placeOf(index) }))
const ids = new Set(stores.map(({ id }) => id))

interface Line {
  itemId: string
  storeId: string
  quantity: number
}

function priced({ itemId, storeId, quantity }: Line) {
  const price = prices.get(itemId)
  if (price === undefined || !ids.has(storeId))
    return {
      itemId,
      storeId,
      quantity,
      unitPrice: null,
      discount: null,
      totalPrice: null,
      errorCode: 'item_unknown',
    }
  const total = (price * Math.round(quantity * 10_000)) / 100_000_000
  return { itemId, storeId, quantity, unitPrice: price / 10_000, discount: 0, totalPrice: total }
}

const radians = (degrees: number) => (degrees * Math.PI) / 180

function distanceM(from: { latitude: number; longitude: number }, latitude: number, longitude: number) {
  const [a, b] = [radians(from.latitude), radians(latitude)]
  const half =
    Math.sin((b - a) / 2) ** 2 +
    Math.cos(a) * Math.cos(b) * Math.sin(radians(longitude - from.longitude) / 2) ** 2
  return 2 * 6_371_009 * Math.asin(Math.sqrt(half))
}

function nearest(latitude: number, longitude: number) {
  return stores
    .map((store) => ({ ...store, distance: distanceM(store, latitude, longitude) }))
    .filter(({ distance }) => distance <= RADIUS_M)
    .sort((a, b) => a.distance - b.distance)
    .slice(0, 50)
}

const SECRET = Buffer.from('bench-secret')
const KEY = Buffer.alloc(32, 7)
const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A signed JWT, for the right secret. */
function issueToken(body: string) {
  const form = new URLSearchParams(body)
  const given = Buffer.from(form.get('client_secret') ?? '')
  if (given.length !== SECRET.length || !timingSafeEqual(given, SECRET)) return { error: 'invalid_client' }
  const iat = Math.floor(Date.now() / 1000)
  const claims = {
    sub: form.get('client_id'),
    iss: 'http://localhost',
    aud: 'http://localhost',
    iat,
    exp: iat + 900,
  }
  const text = `${base64({ alg: 'HS256', typ: 'at+jwt' })}.${base64(claims)}`
  const signature = createHmac('sha256', KEY).update(text).digest('base64url')
  return { access_token: `${text}.${signature}`, token_type: 'Bearer', expires_in: 900 }
}

createServer((req, res) => {
  const isToken = req.url === '/connect/token'
  if (!isToken && req.headers.authorization === undefined) return void res.writeHead(401).end()
  const answer = (body: unknown) => {
    const text = JSON.stringify(body)
    res
      .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
      .end(text)
  }
  const url = new URL(req.url ?? '/', 'http://localhost')
  if (url.pathname === '/stores/nearest')
    return answer(
      nearest(Number(url.searchParams.get('latitude')), Number(url.searchParams.get('longitude'))),
    )
  const chunks: Buffer[] = []
  req.on('data', (chunk) => chunks.push(chunk))
  req.on('end', () => {
    const body = Buffer.concat(chunks).toString()
    if (isToken) return answer(issueToken(body))
    const { items } = JSON.parse(body) as { items: Line[] }
    answer(items.map(priced))
  })
}).listen(Number(process.env.PORT))
