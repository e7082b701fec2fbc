import { readFileSync } from 'node:fs'
import { type Request, type Response, Router } from 'express'
import { requireUser, sendPageOrJson, sendVersion, WebError } from '../../web/kit.ts'
import type { FlowStore } from './flow-store.ts'
import { type FlowView, listedFlowSchema, PAGE_DATA, rowOf, viewOf } from './view.ts'

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
    .get('/', async (req, res) => {
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
    })
    .get('/live', async (req, res) => sendVersion(res, await flows.list(requireUser(req))))
}

function showRoutes(options: FlowRoutesOptions): Router {
  return Router()
    .get('/:id', async (req, res) => {
      const view = await load(options, req)
      sendPageOrJson(req, res, {
        view: 'flow-inspector/flow',
        title: view.title,
        data: view,
        json: view.json,
      })
    })
    .get('/:id/export', async (req, res) => {
      const view = await load(options, req)
      res.attachment(`flow-${req.params.id.slice(0, 8)}.html`)
      res.page('flow-inspector/export', { ...view, css: inlineStyles() })
    })
}

/** The pages of one step: one to understand it, one to present it, and one for the person who presents it. */
function stepRoutes(options: FlowRoutesOptions): Router {
  const router = Router()
  for (const [page, view] of [
    ['steps', 'step'],
    ['present', 'present'],
    ['notes', 'notes'],
  ] as const)
    router.get(
      `/:id/${page}/:number`,
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
