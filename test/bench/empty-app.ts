/** The smallest possible Express app. */
import express from 'express'

const app = express()
app.get('/health/live', (_req, res) => void res.json({ status: 'live' }))
app.listen(Number(process.env.PORT))
