/** What live pricing is measured against: the same work by hand, with Express and SQLite. Totals are exact to four decimals. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import express, { type RequestHandler } from 'express'

const { PORT, FILE = '' } = process.env
const RADIUS_KM = 50
const db = new DatabaseSync(FILE, { readOnly: true })
const findItem = db.prepare('SELECT category, price FROM items WHERE code = ?')
const findStore = db.prepare('SELECT 1 FROM stores WHERE id = ?')
const findPrice = db.prepare('SELECT price FROM prices WHERE item = ? AND store = ?')
const findDiscount = db.prepare('SELECT percent FROM discounts WHERE category = ?')
const allStores = db.prepare('SELECT latitude, longitude, store FROM stores')

interface Line {
  itemId: string
  storeId: string
  quantity: number
}

function priced({ itemId, storeId, quantity }: Line) {
  const item = findItem.get(itemId)
  if (!item || !findStore.get(storeId)) return { itemId, storeId, quantity, errorCode: 'item_unknown' }
  const unitPrice = Number((findPrice.get(itemId, storeId) ?? item).price)
  const gross = Math.round(unitPrice * 10_000) * Math.round(quantity * 10_000)
  const { percent = 0 } = findDiscount.get(item.category ?? '') ?? {}
  const cents = Math.round((gross / 1e8) * Number(percent))
  const totalPrice = (gross - cents * 1e6) / 1e8
  return { itemId, storeId, quantity, unitPrice, discount: cents / 100, totalPrice }
}

const radians = (degrees: number) => (degrees * Math.PI) / 180

function distanceKm(fromLatitude: number, fromLongitude: number, latitude: number, longitude: number) {
  const [a, b] = [radians(fromLatitude), radians(latitude)]
  const half =
    Math.sin((b - a) / 2) ** 2 +
    Math.cos(a) * Math.cos(b) * Math.sin(radians(longitude - fromLongitude) / 2) ** 2
  return 2 * 6371.009 * Math.asin(Math.sqrt(half))
}

const nearest = (latitude: number, longitude: number) =>
  allStores
    .all()
    .map((row) => {
      const distance = distanceKm(latitude, longitude, Number(row.latitude), Number(row.longitude))
      return { distance, store: String(row.store) }
    })
    .filter(({ distance }) => distance <= RADIUS_KM)
    .sort((a, b) => a.distance - b.distance)
    .slice(0, 50)
    .map(({ distance, store }) => ({ ...JSON.parse(store), distance }))

const SECRET = Buffer.from('bench-secret')
const KEY = Buffer.alloc(32, 7)
const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const signatureOf = (text: string) => createHmac('sha256', KEY).update(text).digest()

/** A signed JWT. */
function issueToken(client: string) {
  const iat = Math.floor(Date.now() / 1000)
  const claims = { sub: client, iss: 'http://localhost', aud: 'http://localhost', iat, exp: iat + 900 }
  const text = `${base64({ alg: 'HS256', typ: 'at+jwt' })}.${base64(claims)}`
  return `${text}.${signatureOf(text).toString('base64url')}`
}

const authenticate: RequestHandler = (req, res, next) => {
  const [head = '', claims = '', signature = ''] = (req.get('authorization') ?? '').slice(7).split('.')
  const [given, right] = [Buffer.from(signature, 'base64url'), signatureOf(`${head}.${claims}`)]
  const isSigned = given.length === right.length && timingSafeEqual(given, right)
  if (!isSigned) return void res.sendStatus(401)
  const { exp } = JSON.parse(Buffer.from(claims, 'base64url').toString())
  if (exp * 1000 < Date.now()) return void res.sendStatus(401)
  next()
}

const app = express()
app.post('/connect/token', express.urlencoded(), (req, res) => {
  const given = Buffer.from(String(req.body.client_secret))
  if (given.length !== SECRET.length || !timingSafeEqual(given, SECRET)) return void res.sendStatus(401)
  res.json({ access_token: issueToken(String(req.body.client_id)), token_type: 'Bearer', expires_in: 900 })
})
app.get('/stores/nearest', authenticate, (req, res) => {
  res.json(nearest(Number(req.query.latitude), Number(req.query.longitude)))
})
app.post('/request-prices', authenticate, express.json({ limit: '1mb' }), (req, res) => {
  res.json((req.body.items as Line[]).map(priced))
})
app.get('/health/live', (_req, res) => void res.sendStatus(204))
app.listen(Number(PORT))
