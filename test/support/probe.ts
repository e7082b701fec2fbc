/**
 * A feature that only tests have, in the app and in the sandbox: `GET /connections/:bxcontext/probe` calls the platform's
 * `/probe`. The tests of the core use it to make API calls, so that they pass whichever features are removed.
 */
import { EventEmitter, once } from 'node:events'
import { promisify } from 'node:util'
import { Router } from 'express'
import * as z from 'zod'
import { type Connect, idSchema, platform } from '../../src/connect/index.ts'
import type { NamedFeature } from '../../src/features/load.ts'
import { API_FAULTS } from '../../src/sandbox/faults.ts'
import type { NamedSandboxFeature } from '../../src/sandbox/load.ts'
import { sendPage } from '../../src/sandbox/odata.ts'
import { SCOPES } from '../../src/sandbox/platform.ts'
import { connectionRef } from '../../src/web/pages/connection-guard.ts'
import { pageQuery } from '../../src/web/pages/paging.ts'
import { notFound } from '../../src/web/requests/error-page.ts'
import { rejectForm } from '../../src/web/requests/rejected-form.ts'
import { sendResultOrRedirect, wantsJson } from '../../src/web/requests/respond.ts'
import { signedInOnly } from '../../src/web/sign-in/user.ts'

declare module 'express-session' {
  interface SessionData {
    /** How often requests have saved this session. */
    saved: number
  }
}

const { leads, catalogues } = platform.scopes

const recordSchema = z.object({ id: idSchema })
const RECORDS = Array.from({ length: 40 }, (_, index) => ({ id: `P${index + 1}` }))

/** If a test listens for `arrived`, a request to `/probe/session` waits for `go` before it saves the session and answers. */
export const inFlight = new EventEmitter()

const sessionRoutes = () =>
  Router().post('/', signedInOnly, async (req, res) => {
    if (inFlight.emit('arrived')) await once(inFlight, 'go')
    req.session.saved = (req.session.saved ?? 0) + 1
    if (req.query.explicit) await promisify(req.session.save).call(req.session)
    res.json({ saved: req.session.saved })
  })

/** The app's side. */
export const probe: NamedFeature = {
  name: 'probe',
  folder: 'probe',
  title: 'Probe',
  order: 5,
  scopes: { [leads]: 'to read records', [catalogues]: 'to read others' },
  connectionTest: {
    scope: leads,
    async run(api, source) {
      await api.list(source, { path: '/probe', scope: leads, schema: z.array(recordSchema) }, { top: 1 })
      return { summary: 'Works: the probe answered.', call: 'GET /probe' }
    },
  },
  create: ({ connect }) => ({
    connectionLinks: async () => [{ path: '/probe', label: 'Probe' }],
    routes: [
      { path: '/connections/:bxcontext/probe', needsConnection: true, router: probeRoutes(connect) },
      { path: '/probe/session', needsConnection: false, router: sessionRoutes() },
    ],
    serverRoutes: [{ path: '/probe/server', router: Router().get('/', notFound) }],
  }),
}

const probeRoutes = ({ api, vault }: Connect) =>
  Router()
    .get('/', async (req, res) => {
      const call = { path: '/probe', scope: leads, schema: z.array(recordSchema) }
      const page = pageQuery.parse(req.query)
      const { items, total } = await api.list(vault.tokenSource(connectionRef(req)), call, page)
      if (wantsJson(req)) res.json({ items, total })
      else res.page('app/home', { title: 'Probe', requestedScopes: [leads] })
    })
    .get('/:id', async (req, res) => {
      const path = `/probe/${encodeURIComponent(req.params.id)}`
      const call = {
        path,
        scope: leads,
        notFound: 'There is no such record in this account.',
        schema: recordSchema,
      }
      res.json(await api.get(vault.tokenSource(connectionRef(req)), call))
    })
    .post('/', async (req, res) => {
      try {
        const body = z
          .object({
            name: z.string().min(1, 'must not be empty').max(20, 'must have at most 20 characters'),
          })
          .parse(req.body)
        const call = { path: '/probe', scope: leads, schema: recordSchema }
        const record = await api.post(vault.tokenSource(connectionRef(req)), call, body)
        await sendResultOrRedirect(req, res, '/connections', record, {
          status: 201,
          notice: 'The record was created.',
        })
      } catch (error) {
        const data = { requestedScopes: [] }
        await rejectForm(req, res, error, async () => ({ view: 'app/home', title: 'Probe', data }))
      }
    })

/** The platform's side, with faults that the control page can set. */
export const sandboxProbe: NamedSandboxFeature = {
  name: 'probe',
  faults: { probe: API_FAULTS },
  create: ({ guard }) => ({
    api: Router()
      .use('/probe', ...guard(SCOPES.leads, 'probe'), records())
      .use('/probe-catalogues', ...guard(SCOPES.catalogues, 'probe'), records()),
  }),
}

const records = () =>
  Router()
    .get('/', (req, res) => sendPage(req, res, RECORDS))
    .get('/:id', (req, res) => {
      const record = RECORDS.find(({ id }) => id === req.params.id)
      if (record) res.json(record)
      else res.status(404).json({ error: 'not_found' })
    })
    .post('/', (_req, res) => void res.status(201).json({ id: 'new' }))
