import { randomUUID } from 'node:crypto'
import express, { type Request, type RequestHandler, type Response, Router } from 'express'
import * as z from 'zod'
import { describeRoute } from '../../connect/express.ts'
import { parseJson } from '../../connect/index.ts'
import { badInput, rejectForm, WebError } from '../../web/errors.ts'
import { sendPageOrJson, sendResultOrRedirect } from '../../web/respond.ts'
import type { SendChanges } from '../../web/sse.ts'
import { requireUser } from '../../web/user.ts'
import { drawDiagram } from './diagram.ts'
import { exportJson, exportMermaid, importFlow, inlineStyles } from './exports.ts'
import { type Flow, summarize } from './flow.ts'
import { type FlowReader, numberedSteps } from './flow-reader.ts'
import type { FlowStore } from './flow-store.ts'
import { ASSETS, flowJson, flowPage, flowRow } from './pages.ts'
import { flowViewSchema, listedFlowSchema, stepViewSchema } from './schemas.ts'

export interface FlowRoutesOptions {
  flows: FlowStore
  reader: FlowReader
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
  return Router().use(listRoutes(options)).use(showRoutes(options))
}

function listRoutes(options: FlowRoutesOptions): Router {
  const { flows, sendChanges } = options
  return Router()
    .get(
      '/flows',
      describeRoute({
        summary:
          '`{flows: [{id, kind, startedAt, endedAt, outcome, call, bxcontext, steps, requests, imported}]}`. `call` is the method and path of an API call, such as `GET /leads`. `steps` is their number. `kind` is `connect`, `refresh`, `api_call`, `revocation`, or `disconnect`; `outcome` is `running`, `connected`, `refreshed`, `answered`, `revoked`, `disconnected`, `abandoned`, or an error code.',
        response: z.object({ flows: z.array(listedFlowSchema) }),
      }),
      async (req, res) => {
        const userId = requireUser(req)
        const page = await listPage(options, userId)
        const listed = await flows.list(userId)
        sendPageOrJson(req, res, { ...page, json: { flows: listed.map(({ storedAt: _, ...flow }) => flow) } })
      },
    )
    .get(
      '/flows/live',
      describeRoute({
        summary: 'Server-sent events.',
        response: z.string(),
        responseType: 'text/event-stream',
      }),
      (req, res) => {
        const userId = requireUser(req)
        const getSnapshot = async () => JSON.stringify(await flows.list(userId))
        sendChanges(req, res, { getSnapshot, everyMs: LIVE_MS })
      },
    )
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
      importHandler(options),
    )
}

async function listPage({ flows, businessNames }: FlowRoutesOptions, userId: string) {
  const names = await businessNames(userId)
  const rows = (await flows.list(userId)).map((summary) => ({
    ...flowRow(summary),
    businessName: names.get(summary.bxcontext ?? ''),
  }))
  return { view: 'flow-inspector/flows', title: 'Flows', data: { ...ASSETS, rows } }
}

function importHandler(options: FlowRoutesOptions): RequestHandler {
  return async (req, res) => {
    const userId = requireUser(req)
    try {
      const id = `imported-${randomUUID()}`
      const flow = importFlow(await uploadedJson(req), id)
      await options.flows.save(userId, flow)
      const notice = 'The flow was imported.'
      await sendResultOrRedirect(req, res, `/flows/${id}`, { id }, { status: 201, notice })
    } catch (error) {
      await rejectForm(req, res, error, () => listPage(options, userId))
    }
  }
}

const describeStep = (summary: string) =>
  describeRoute({ summary, response: stepViewSchema, errors: ['not_found'] })

function showRoutes(options: FlowRoutesOptions): Router {
  return Router()
    .get(
      '/flows/:id',
      describeRoute({
        summary:
          'The flow with its steps: `{number, at, ms, from, to, topic, title, request, response}`, with `failure` if the step failed and `count` if it stands for several. `request` and `response` have `parameters`, each with a `value` or a `fingerprint`, and an `explanation`.',
        response: flowViewSchema,
        errors: ['not_found'],
      }),
      async (req, res) => {
        const flow = await flowOf(options, req)
        const data = flowPage(flow, { businessName: await nameOf(options, req, flow) })
        const { title } = data
        sendPageOrJson(req, res, { view: 'flow-inspector/flow', title, data, json: flowJson(flow) })
      },
    )
    .get(
      '/flows/:id/live',
      describeRoute({
        summary: 'Server-sent events, while the flow runs.',
        response: z.string(),
        responseType: 'text/event-stream',
        errors: ['not_found'],
      }),
      liveHandler(options),
    )
    .get('/flows/:id/steps/:number', describeStep('One step.'), stepHandler(options, 'flow-inspector/step'))
    .get(
      '/flows/:id/present/:number',
      describeStep('The same step; as a page, for presenting it.'),
      stepHandler(options, 'flow-inspector/present'),
    )
    .get(
      '/flows/:id/notes/:number',
      describeStep('The same step; as a page, with the notes of who presents it.'),
      stepHandler(options, 'flow-inspector/notes'),
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
        sendExport(res, await flowOf(options, req), req.params.format)
      },
    )
}

/** The user's flow in the URL. Throws `not_found`. */
async function flowOf({ reader }: FlowRoutesOptions, req: Request<{ id: string }>): Promise<Flow> {
  const flow = await reader.load(requireUser(req), req.params.id)
  if (!flow) throw new WebError(404, 'not_found', 'There is no such flow. Flows are kept for a day.')
  return flow
}

async function nameOf({ businessNames }: FlowRoutesOptions, req: Request, flow: Flow) {
  return (await businessNames(requireUser(req))).get(flow.bxcontext ?? '')
}

function liveHandler(options: FlowRoutesOptions): RequestHandler<{ id: string }> {
  const { reader, sendChanges } = options
  return async (req, res) => {
    const userId = requireUser(req)
    await flowOf(options, req)
    const getSnapshot = async () => {
      const flow = await reader.load(userId, req.params.id)
      return flow && summarize(flow).outcome === 'running' ? JSON.stringify(flow) : null
    }
    sendChanges(req, res, { getSnapshot, everyMs: LIVE_MS })
  }
}

/** Sends one step of the flow in the URL, as JSON or on this page. Throws `not_found`. */
function stepHandler(
  options: FlowRoutesOptions,
  view: string,
): RequestHandler<{ id: string; number: string }> {
  return async (req, res) => {
    const flow = await flowOf(options, req)
    const number = Number(req.params.number)
    const page = flowPage(flow, { active: number, businessName: await nameOf(options, req, flow) })
    const step = page.steps[number - 1]
    if (!step) throw new WebError(404, 'not_found', `This flow has ${page.steps.length} steps.`)
    const title = `${number}. ${step.title}`
    sendPageOrJson(req, res, {
      view,
      title,
      // The pages for an audience have no place for notices.
      data: { ...page, title, step, flowTitle: page.title, keepNotice: view !== 'flow-inspector/step' },
      json: flowJson(flow).steps[number - 1],
    })
  }
}

/** Sends a flow as a file. Throws `invalid_input` (400). */
function sendExport(res: Response, flow: Flow, format: string): void {
  const attach = (extension: string) => res.attachment(`flow-${flow.id.slice(0, 8)}.${extension}`)
  if (format === 'json') attach('json').type('json').send(exportJson(flow))
  else if (format === 'mermaid') attach('mmd').type('text/plain').send(exportMermaid(flow))
  else if (format === 'html') {
    attach('html')
    const staticDiagram = drawDiagram(numberedSteps(flow))
    res.page('flow-inspector/export', { ...flowPage(flow), staticDiagram, css: inlineStyles() })
  } else throw badInput('format', 'must be html, json or mermaid')
}

/** The JSON of the uploaded file, or of the body. Throws `invalid_input` (400). */
async function uploadedJson(req: Request): Promise<unknown> {
  if (!Buffer.isBuffer(req.body)) return req.body
  const headers = { 'content-type': req.get('content-type') ?? '' }
  const form = await new globalThis.Response(Uint8Array.from(req.body), { headers })
    .formData()
    .catch(() => undefined)
  const file = form?.get('file')
  const text = file instanceof Blob ? await file.text() : ''
  if (text === '') throw badInput('file', 'choose a file that “Export JSON” wrote')
  const json = parseJson(text)
  if (json === undefined)
    throw badInput('file', 'choose a file that “Export JSON” wrote; this one is not JSON')
  return json
}
