import { Router } from 'express'
import * as z from 'zod'
import { connectionRef, type Feature } from '../../web/feature-api.ts'
import { openNotes } from './notes.ts'

const note = z.strictObject({ text: z.string().min(1, 'enter a text').max(2000, 'is too long') })

export default {
  title: 'Notes',
  order: 240,
  userData: () => import('./user-data.ts'),
  create({ config }) {
    const db = openNotes(config)
    const select = db.prepare('SELECT text FROM notes WHERE user_id = ? AND bxcontext = ?')
    const insert = db.prepare('INSERT INTO notes VALUES (?, ?, ?)')
    const router = Router()
      .get('/', (req, res) => {
        const { userId, bxcontext } = connectionRef(req)
        res.json({ notes: select.all(userId, bxcontext) })
      })
      .post('/', (req, res) => {
        const { userId, bxcontext } = connectionRef(req)
        const { text } = note.parse(req.body)
        insert.run(userId, bxcontext, text)
        res.status(201).json({ text })
      })
    const routes = [{ path: '/connections/:bxcontext/notes', needsConnection: true, router }]
    return { routes, stop: async () => db.close() }
  },
} satisfies Feature
