/** What live pricing is measured against: the same work by hand, for everybody. Totals are exact to four decimals. */
import { DatabaseSync } from 'node:sqlite'
import express from 'express'

const { PORT, FILE = '' } = process.env
const db = new DatabaseSync(FILE, { readOnly: true })
const findItem = db.prepare('SELECT category, price FROM items WHERE code = ?')
const findStore = db.prepare('SELECT 1 FROM stores WHERE id = ?')
const findPrice = db.prepare('SELECT price FROM prices WHERE item = ? AND store = ?')
const findDiscount = db.prepare('SELECT percent FROM discounts WHERE category = ?')

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

const app = express()
app.post('/request-prices', express.json({ limit: '1mb' }), (req, res) => {
  res.json((req.body.items as Line[]).map(priced))
})
app.get('/health/live', (_req, res) => void res.sendStatus(204))
app.listen(Number(PORT))
