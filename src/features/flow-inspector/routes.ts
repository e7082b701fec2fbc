import { readFileSync } from 'node:fs'
import { type Request, type Response, Router } from 'express'
import * as z from 'zod'
import { describeRoute } from '../../connect/express.ts'
import { requireUser, sendPageOrJson, sendVersion, versionSchema, WebError } from '../../web/kit.ts'
import type { FlowStore } from './flow-store.ts'
import {
  type FlowView,
  flowViewSchema,
  listedFlowSchema,
  PAGE_DATA,
  rowOf,
  stepViewSchema,
  viewOf,
} from './view.ts'

export interface FlowRoutesOptions {
  flows: FlowStore
  /** The names by which a user knows businesses, by bxcontext. */
  names(userId: string): Promise<ReadonlyMap<string, string>>
}

/** Routes that list, show and export the user's own flows. */
export function flowRoutes(options: FlowRoutesOptions): Router {
  // A fixed path comes before a pattern that also matches it.
  return Router().use(listRoutes(options), showRoutes(options), stepRoutes(options))
}

function listRoutes(options: FlowRoutesOptions): Router {
  const { flows } = options
  return Router()
    .get(
      '/',
      describeRoute({
        summary:
          '`{flows: [{id, kind, startedAt, endedAt, outcome, call, bxcontext, businessName, steps, requests}]}`. `call` is the method and path of an API call, such as `GET /leads`. `steps` and `requests` are numbers. `kind` is `connect`, `refresh`, `api_call`, `revocation`, or `disconnect`; `outcome` is `running`, `connected`, `refreshed`, `answered`, `revoked`, `disconnected`, `abandoned`, or an error code. With `id`, the id of a flow or of one of its requests, redirects to that flow.',
        query: z.object({ id: z.string().optional() }),
        response: z.object({ flows: z.array(listedFlowSchema) }),
      }),
      async (req, res) => {
        const { id } = req.query
        // The page's form sends the id that the user searches for.
        if (typeof id === 'string' && id.trim() !== '')
          return res.redirect(303, `/flows/${encodeURIComponent(id.trim())}`)
        const userId = requireUser(req)
        const names = await options.names(userId)
        const rows = (await flows.list(userId)).map((summary) => ({
          ...rowOf(summary),
          name: names.get(summary.bxcontext ?? '') ?? summary.bxcontext,
        }))
        const json = { flows: rows.map((row) => listedFlowSchema.parse(row)) }
        const data = { ...PAGE_DATA, rows }
        sendPageOrJson(req, res, { view: 'flow-inspector/flows', title: 'Flows', data, json })
      },
    )
    .get(
      '/live',
      describeRoute({
        summary: '`{version}` of the flows, for open pages.',
        response: versionSchema,
      }),
      async (req, res) => sendVersion(res, await flows.list(requireUser(req))),
    )
}

function showRoutes(options: FlowRoutesOptions): Router {
  return Router()
    .get(
      '/:id',
      describeRoute({
        summary:
          'The flow with this id, or with a request of this id, and its steps: `{number, at, ms, from, to, topic, title, request, response}`, with `failure` if the step failed. `request` and `response` have `headers` and `parameters`, each with a `value` or a `fingerprint`.',
        response: flowViewSchema,
        errors: ['not_found'],
      }),
      async (req, res) => {
        const view = await load(options, req)
        sendPageOrJson(req, res, {
          view: 'flow-inspector/flow',
          title: view.title,
          data: view,
          json: view.json,
        })
      },
    )
    .get(
      '/:id/export',
      describeRoute({
        summary: 'The flow as one HTML file that needs nothing else.',
        response: z.string(),
        responseType: 'text/html',
        errors: ['not_found'],
      }),
      async (req, res) => {
        const view = await load(options, req)
        res.attachment(`flow-${req.params.id.slice(0, 8)}.html`)
        res.page('flow-inspector/export', { ...view, css: inlineStyles() })
      },
    )
}

/** The pages of one step: one to understand it, one to present it, and one for the person who presents it. */
function stepRoutes(options: FlowRoutesOptions): Router {
  const router = Router()
  for (const [page, view, summary] of [
    ['steps', 'step', 'One step.'],
    ['present', 'present', 'The same step; as a page, for presenting it.'],
    ['notes', 'notes', 'The same step; as a page, with the notes of who presents it.'],
  ] as const)
    router.get(
      `/:id/${page}/:number`,
      describeRoute({ summary, response: stepViewSchema, errors: ['not_found'] }),
      async (req: Request<{ id: string; number: string }>, res: Response) => {
        const number = Number(req.params.number)
        const flow = await load(options, req, number)
        const step = flow.steps[number - 1]
        if (!step) throw new WebError(404, 'not_found', `This flow has ${flow.steps.length} steps.`)
        const title = `${number}. ${step.title}`
        sendPageOrJson(req, res, {
          view: `flow-inspector/${view}`,
          title,
          // The pages for an audience have no place for notices.
          data: { ...flow, title, step, flowTitle: flow.title, keepNotice: view !== 'step' },
          json: flow.json.steps[number - 1],
        })
      },
    )
  return router
}

/** What the pages show of the user's flow in the URL. `active`: the number of the step to highlight. Throws `not_found`. */
async function load(
  options: FlowRoutesOptions,
  req: Request<{ id: string }>,
  active?: number,
): Promise<FlowView> {
  const userId = requireUser(req)
  const flow = await options.flows.find(userId, req.params.id)
  if (!flow) throw new WebError(404, 'not_found', 'There is no such flow. Flows are kept for a day.')
  const names = await options.names(userId)
  return viewOf(flow, names.get(flow.bxcontext ?? ''), active)
}

/** The styles of a page that works without this app. */
function inlineStyles(): string {
  const files = ['base.css', 'app.css', 'flow-inspector/flows.css']
  const read = (file: string) =>
    readFileSync(new URL(`../../../views/public/${file}`, import.meta.url), 'utf8')
  return files.map(read).join('\n')
}
