import { readFileSync } from 'node:fs'
import { type Request, type Response, Router } from 'express'
import { nameOf, requireUser, sendPageOrJson, sendVersion, WebError } from '../../web/feature-api.ts'
import type { Summary } from './flow.ts'
import type { Inspector } from './inspector.ts'
import { type FlowView, listedFlowSchema, PAGE_DATA, rowOf, viewOf } from './view.ts'

/** The name that a user sees for a business: the name of the connection, or else its bxcontext. */
async function nameIn(
  { connect }: Inspector,
  userId: string,
  bxcontext: string | null,
): Promise<string | null> {
  const connection = bxcontext === null ? undefined : await connect.vault.findAny({ userId, bxcontext })
  return connection ? nameOf(connection) : bxcontext
}

/** Routes that list, show and export the user's own flows. Fixed paths come before patterns that also match them. */
export function flowRoutes(inspector: Inspector): Router {
  const { flows } = inspector
  return Router()
    .get('/', async (req, res) => {
      const { id } = req.query
      // The search form sends the id that the user entered.
      if (typeof id === 'string' && id.trim() !== '')
        return res.redirect(303, `/flows/${encodeURIComponent(id.trim())}`)
      const userId = requireUser(req)
      const summaries = await flows.list(userId)
      const ids = [...new Set(summaries.map(({ bxcontext }) => bxcontext))]
      const names = await Promise.all(ids.map((one) => nameIn(inspector, userId, one)))
      const nameOfRow = ({ bxcontext }: Summary) => names[ids.indexOf(bxcontext)]
      const rows = summaries.map((summary) => ({ ...rowOf(summary), name: nameOfRow(summary) }))
      const json = { flows: rows.map((row) => listedFlowSchema.parse(row)) }
      const data = { ...PAGE_DATA, rows }
      sendPageOrJson(req, res, { view: 'flow-inspector/flows', title: 'Flows', data, json })
    })
    .get('/live', async (req, res) => sendVersion(res, await flows.list(requireUser(req))))
    .get('/:id', async (req, res) => {
      const view = await load(inspector, req)
      const { title, json } = view
      sendPageOrJson(req, res, { view: 'flow-inspector/flow', title, data: view, json })
    })
    .get('/:id/export', async (req, res) => {
      const view = await load(inspector, req)
      res.attachment(`flow-${req.params.id.slice(0, 8)}.html`)
      res.page('flow-inspector/export', { ...view, css: inlineStyles() })
    })
    .use(stepRoutes(inspector))
}

/** The two pages of a step: an explanation, and a view for presentations. */
function stepRoutes(inspector: Inspector): Router {
  const router = Router()
  for (const [page, view] of [
    ['steps', 'step'],
    ['present', 'present'],
  ] as const)
    router.get(
      `/:id/${page}/:number`,
      async (req: Request<{ id: string; number: string }>, res: Response) => {
        const number = Number(req.params.number)
        const flow = await load(inspector, req, number)
        const step = flow.steps[number - 1]
        if (!step) throw new WebError(404, 'not_found', `This flow has ${flow.steps.length} steps.`)
        const title = `${number}. ${step.title}`
        sendPageOrJson(req, res, {
          view: `flow-inspector/${view}`,
          title,
          // The presentation pages have no place for notices.
          data: { ...flow, title, step, flowTitle: flow.title, keepNotice: view !== 'step' },
          json: flow.json.steps[number - 1],
        })
      },
    )
  return router
}

/** The data for the pages of the user's flow in the URL. `active`: the number of the step to highlight. Throws `not_found`. */
async function load(inspector: Inspector, req: Request<{ id: string }>, active?: number): Promise<FlowView> {
  const userId = requireUser(req)
  const flow = await inspector.flows.find(userId, req.params.id)
  if (!flow) throw new WebError(404, 'not_found', 'There is no such flow. Flows are kept for a day.')
  return viewOf(flow, await nameIn(inspector, userId, flow.bxcontext), active)
}

/** The inlined styles of an exported page, which works without this app. */
function inlineStyles(): string {
  const files = ['app.css', 'flow-inspector/flows.css']
  const read = (file: string) =>
    readFileSync(new URL(`../../../views/public/${file}`, import.meta.url), 'utf8')
  return files.map(read).join('\n')
}
