/** What live pricing is measured against: Express routes that parse the same input and answer prepared JSON. */
import { readFileSync } from 'node:fs'
import express from 'express'

const prices = readFileSync(process.env.PRICES ?? '', 'utf8')
const stores = readFileSync(process.env.STORES ?? '', 'utf8')
const app = express()
app.post('/request-prices', express.json({ limit: '1mb' }), (_req, res) => void res.type('json').send(prices))
app.get('/stores/nearest', (_req, res) => void res.type('json').send(stores))
app.listen(Number(process.env.PORT))
