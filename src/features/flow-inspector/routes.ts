import { randomUUID } from 'node:crypto'
import express, { type Request, type Response, Router } from 'express'
import * as z from 'zod'
import { describeRoute } from '../../connect/express.ts'
import { parseJson } from '../../connect/index.ts'
import { badInput, rejectForm, WebError } from '../../web/errors.ts'
import { sendPageOrJson, sendResultOrRedirect } from '../../web/respond.ts'
import type { SendChanges } from '../../web/sse.ts'
import { requireUser } from '../../web/user.ts'
import { exportJson, exportMermaid, importFlow, inlineStyles } from './exports.ts'
import { type Flow, summarize } from './flow.ts'
import type { FlowStore } from './flow-store.ts'
import {
  type FlowView,
  flowViewSchema,
  jsonOf,
  listedFlowSchema,
  PAGE_DATA,
  rowOf,
  stepViewSchema,
  viewOf,
} from './view.ts'

export interface FlowRoutesOptions {
  flows: FlowStore
  /** The names of a user's businesses, by bxcontext, as far as the platform reports them. */
  businessNames(userId: string): Promise<ReadonlyMap<string, string>>
  sendChanges: SendChanges
}

/** How often an open page looks for new steps, in ms. */
const LIVE_MS = 500
/** The largest file that can be imported, in bytes. */
const MAX_IMPORT = 2_000_000

/** Routes that list, show, export and import the user's own flows. */
export function flowRoutes(options: FlowRoutesOptions): Router {
  // A fixed path comes before a pattern that also matches it.
  return Router().use(listRoutes(options), showRoutes(options), stepRoutes(options))
}

const describeLive = (summary: string, errors: string[] = []) =>
  describeRoute({ summary, response: z.string(), responseType: 'text/event-stream', errors })

function listRoutes(options: FlowRoutesOptions): Router {
  const { flows, sendChanges } = options
  return Router()
    .get(
      '/flows',
      describeRoute({
        summary:
          '`{flows: [{id, kind, startedAt, endedAt, outcome, call, bxcontext, businessName, steps, requests, imported}]}`. `call` is the method and path of an API call, such as `GET /leads`. `steps` is their number. `kind` is `connect`, `refresh`, `api_call`, `revocation`, or `disconnect`; `outcome` is `running`, `connected`, `refreshed`, `answered`, `revoked`, `disconnected`, `abandoned`, or an error code.',
        response: z.object({ flows: z.array(listedFlowSchema) }),
      }),
      async (req, res) => {
        const page = await listPage(options, requireUser(req))
        const json = { flows: page.data.rows.map((row) => listedFlowSchema.parse(row)) }
        sendPageOrJson(req, res, { ...page, json })
      },
    )
    .get('/flows/live', describeLive('Server-sent events.'), (req, res) => {
      const userId = requireUser(req)
      const getSnapshot = async () => JSON.stringify(await flows.list(userId))
      sendChanges(req, res, { getSnapshot, everyMs: LIVE_MS })
    })
    .post(
      '/flows/import',
      describeRoute({
        summary:
          'Imports a flow that was exported as JSON: the file `file` of a form, at most 2 MB, or the JSON itself, at most 64 kB. Answers `201` with `{id}`.',
        bodyType: 'multipart/form-data',
        body: z.object({ file: z.string() }),
        status: 201,
        response: z.object({ id: z.string() }),
        errors: ['invalid_input', 'payload_too_large'],
      }),
      express.raw({ type: 'multipart/form-data', limit: MAX_IMPORT }),
      async (req, res) => {
        const userId = requireUser(req)
        try {
          const flow = importFlow(await uploadedJson(req), `imported-${randomUUID()}`)
          await flows.append(userId, [flow])
          const notice = 'The flow was imported.'
          const { id } = flow
          await sendResultOrRedirect(req, res, `/flows/${id}`, { id }, { status: 201, notice })
        } catch (error) {
          await rejectForm(req, res, error, () => listPage(options, userId))
        }
      },
    )
}

async function listPage({ flows, businessNames }: FlowRoutesOptions, userId: string) {
  const names = await businessNames(userId)
  const rows = (await flows.list(userId)).map((summary) => {
    const businessName = names.get(summary.bxcontext ?? '') ?? summary.businessName
    return rowOf({ ...summary, businessName })
  })
  return { view: 'flow-inspector/flows', title: 'Flows', data: { ...PAGE_DATA, rows } }
}

function showRoutes(options: FlowRoutesOptions): Router {
  return Router()
    .get(
      '/flows/:id',
      describeRoute({
        summary:
          'The flow with its steps: `{number, at, ms, from, to, topic, title, request, response}`, with `failure` if the step failed. `request` and `response` have `headers` and `parameters`, each with a `value` or a `fingerprint`, and an `explanation`.',
        response: flowViewSchema,
        errors: ['not_found'],
      }),
      async (req, res) => {
        const { view } = await load(options, req)
        sendPageOrJson(req, res, {
          view: 'flow-inspector/flow',
          title: view.title,
          data: view,
          json: jsonOf(view),
        })
      },
    )
    .get(
      '/flows/:id/live',
      describeLive('Server-sent events, while the flow runs.', ['not_found']),
      async (req, res) => {
        const { flows, sendChanges } = options
        const userId = requireUser(req)
        await load(options, req)
        const getSnapshot = async () => {
          const flow = await flows.find(userId, req.params.id)
          return flow && summarize(flow).outcome === 'running' ? JSON.stringify(flow) : null
        }
        sendChanges(req, res, { getSnapshot, everyMs: LIVE_MS })
      },
    )
    .get(
      '/flows/:id/export/:format',
      describeRoute({
        summary: 'The flow as a file: `html`, `json`, or `mermaid`.',
        response: z.string(),
        responseType: 'application/octet-stream',
        errors: ['not_found', 'invalid_input'],
      }),
      async (req, res) => {
        sendExport(res, await load(options, req), req.params.format)
      },
    )
}

/** The pages of one step: to understand it, to present it, and for who presents it. */
function stepRoutes(options: FlowRoutesOptions): Router {
  const router = Router()
  for (const [page, view, summary] of [
    ['steps', 'step', 'One step.'],
    ['present', 'present', 'The same step; as a page, for presenting it.'],
    ['notes', 'notes', 'The same step; as a page, with the notes of who presents it.'],
  ] as const)
    router.get(
      `/flows/:id/${page}/:number`,
      describeRoute({ summary, response: stepViewSchema, errors: ['not_found'] }),
      async (req: Request<{ id: string; number: string }>, res: Response) => {
        const number = Number(req.params.number)
        const { view: flow } = await load(options, req, number)
        const step = flow.steps[number - 1]
        if (!step) throw new WebError(404, 'not_found', `This flow has ${flow.steps.length} steps.`)
        const title = `${number}. ${step.title}`
        sendPageOrJson(req, res, {
          view: `flow-inspector/${view}`,
          title,
          // The pages for an audience have no place for notices.
          data: { ...flow, title, step, flowTitle: flow.title, keepNotice: view !== 'step' },
          json: jsonOf(flow).steps[number - 1],
        })
      },
    )
  return router
}

/** The user's flow in the URL, and what its pages show. `active`: the number of the step to highlight. Throws `not_found`. */
async function load(
  { flows, businessNames }: FlowRoutesOptions,
  req: Request<{ id: string }>,
  active?: number,
): Promise<{ flow: Flow; view: FlowView }> {
  const userId = requireUser(req)
  const flow = await flows.find(userId, req.params.id)
  if (!flow) throw new WebError(404, 'not_found', 'There is no such flow. Flows are kept for a day.')
  const names = await businessNames(userId)
  return { flow, view: viewOf(flow, names.get(flow.bxcontext ?? ''), active) }
}

/** Sends a flow as a file. Throws `invalid_input` (400). */
function sendExport(res: Response, { flow, view }: { flow: Flow; view: FlowView }, format: string): void {
  const attach = (extension: string) => res.attachment(`flow-${flow.id.slice(0, 8)}.${extension}`)
  if (format === 'json') attach('json').type('json').send(exportJson(flow))
  else if (format === 'mermaid') attach('mmd').type('text/plain').send(exportMermaid(flow))
  else if (format === 'html') attach('html').page('flow-inspector/export', { ...view, css: inlineStyles() })
  else throw badInput('format', 'must be html, json or mermaid')
}

/** The JSON of the uploaded file, or of the body. Throws `invalid_input` (400). */
async function uploadedJson(req: Request): Promise<unknown> {
  if (!Buffer.isBuffer(req.body)) return req.body
  const headers = { 'content-type': req.get('content-type') ?? '' }
  const body = new globalThis.Response(Uint8Array.from(req.body), { headers })
  const file = await body.formData().then(
    (form) => form.get('file'),
    () => null,
  )
  const text = file instanceof Blob ? await file.text() : ''
  if (text === '') throw badInput('file', 'choose a file that “Export JSON” wrote')
  const json = parseJson(text)
  if (json === undefined)
    throw badInput('file', 'choose a file that “Export JSON” wrote; this one is not JSON')
  return json
}
