import { Router } from 'express'
import { notFound } from '../../../sandbox/api.ts'
import { API_FAULTS } from '../../../sandbox/faults.ts'
import type { SandboxCore, SandboxFeature } from '../../../sandbox/feature.ts'
import { bxcontextOf } from '../../../sandbox/guard.ts'
import { sendPage } from '../../../sandbox/odata.ts'
import { type SandboxWidget, widgetsOf } from './generated.ts'
// template: write
import express from 'express'
import * as z from 'zod'
import { NOT_AN_OBJECT, parseBody } from '../../../sandbox/api.ts'

const newWidget = z.object(
  {
    name: z.string('must be text').min(1, 'must not be empty'),
    notes: z.string('must be text').default(''),
  },
  NOT_AN_OBJECT,
)
// end of template

/** The widgets API. */
export default {
  // template: scope
  scopes: { widgets: 'See your widgets' },
  // end of template
  // template: write
  schema: `CREATE TABLE IF NOT EXISTS widgets (
    id INTEGER PRIMARY KEY, bxcontext TEXT NOT NULL, widget TEXT NOT NULL
  ) STRICT;`,
  // end of template
  faults: { widgets: API_FAULTS },
  create: (core) => ({ api: widgetsApi(core) }),
} satisfies SandboxFeature

function widgetsApi(core: SandboxCore): Router {
  const list = (bxcontext: string): SandboxWidget[] => [
    // template: write
    // Created widgets, the latest first.
    ...core.sql
      .all('SELECT id, widget FROM widgets WHERE bxcontext = ? ORDER BY id DESC', bxcontext)
      .map(({ id, widget }) => ({ id: `${bxcontext}-N${id}`, ...JSON.parse(String(widget)) })),
    // end of template
    ...widgetsOf(bxcontext),
  ]
  return (
    Router()
      .use('/widgets', ...core.guard('widgets', 'widgets'))
      .get('/widgets', (req, res) => sendPage(req, res, list(bxcontextOf(res))))
      .get('/widgets/:id', (req, res) => {
        const widget = list(bxcontextOf(res)).find(({ id }) => id === req.params.id)
        return widget ? void res.json(widget) : notFound(res)
      })
      // template: write
      .post('/widgets', express.json({ limit: '100kb' }), (req, res) => {
        const given = parseBody(res, newWidget, req.body, 'invalid_widget')
        if (!given) return
        const bxcontext = bxcontextOf(res)
        const widget = { ...given, status: 'New', createdAt: new Date().toISOString() }
        const insert = 'INSERT INTO widgets (bxcontext, widget) VALUES (?, ?)'
        const { lastInsertRowid } = core.sql.run(insert, bxcontext, JSON.stringify(widget))
        res.status(201).json({ id: `${bxcontext}-N${lastInsertRowid}`, ...widget })
      })
      // end of template
  )
}
