import { type RequestHandler, Router } from 'express'
import * as z from 'zod'
import { describeRoute } from '../../../connect/express.ts'
import type { KeyValueStore } from '../../../connect/stores.ts'
import { WebError } from '../../../web/errors.ts'
import { sendOnward, sendPageOrJson, sendResultOrRedirect } from '../../../web/respond.ts'
import { localPath } from '../../../web/return-to.ts'
import { texts } from '../../../web/texts.ts'
import { requireUser } from '../../../web/user.ts'
import { drawDiagram } from '../diagram.ts'
import { fingerprintKey, fingerprintOf } from '../fingerprints.ts'
import { type Flow, parameterSchema } from '../flow.ts'
import type { FlowReader } from '../flow-reader.ts'
import type { FlowStore } from '../flow-store.ts'
import { Secret } from '../masking.ts'
import { ASSETS } from '../pages.ts'
import { nextRequest, type PausePlatform, pausePage } from './pause-page.ts'
import { type Pauses, STAGES } from './pauses.ts'
import { ownerOf, type StepByStep } from './step-by-step.ts'

export interface StepByStepRoutesOptions {
  stepByStep: StepByStep
  pauses: Pauses
  flows: FlowStore
  reader: FlowReader
  store: KeyValueStore
  /** Stores what was recorded so far, so that the page shows it. */
  flush(): Promise<void>
  baseUrl: string
  platform: PausePlatform
}

const NO_PAUSE = 'This pause is over. A connect flow lasts 15 minutes; connect again.'
/** How many of the latest flows are searched for the one of a pause. */
const SEARCHED = 5

/** A pause as JSON. */
const pauseSchema = z.object({
  stage: z.enum(STAGES),
  request: z.object({ method: z.string(), url: z.string(), parameters: z.array(parameterSchema) }),
  flow: z.string().nullable(),
})

/** Routes that switch the step-by-step mode, and show and end its pauses. */
export function stepByStepRoutes(options: StepByStepRoutesOptions): Router {
  return Router()
    .post(
      '/flows/step-by-step',
      describeRoute({
        summary: 'Turns the step-by-step mode of this browser session on or off. Field: `on`.',
        body: z.object({
          on: z.union([z.boolean(), z.string()]).optional(),
          returnTo: z.string().optional(),
        }),
        response: z.object({ on: z.boolean() }),
      }),
      turnHandler(options),
    )
    .get(
      '/flows/pauses/:id',
      describeRoute({
        summary: 'The next request of a connect flow that is paused.',
        response: pauseSchema,
        errors: ['not_found'],
      }),
      pauseHandler(options),
    )
    .post(
      '/flows/pauses/:id/continue',
      describeRoute({
        summary: 'Continues it. Answers `{location}`, the next address to open in the browser.',
        response: z.object({ location: z.string() }),
        errors: ['not_found'],
      }),
      async (req, res) => {
        const pause = await options.pauses.end(ownerOf(req), req.params.id)
        if (!pause) throw new WebError(404, 'not_found', NO_PAUSE)
        sendOnward(req, res, pause.target, texts.toPlatform)
      },
    )
}

function turnHandler({ stepByStep }: StepByStepRoutesOptions): RequestHandler {
  return async (req, res) => {
    requireUser(req)
    const on = req.body?.on === 'true' || req.body?.on === true
    await stepByStep.turn(req, on)
    const notice = on ? 'Step by step is on: connecting pauses before each hop.' : 'Step by step is off.'
    await sendResultOrRedirect(req, res, localPath(req.body?.returnTo) ?? '/connections', { on }, { notice })
  }
}

function pauseHandler(options: StepByStepRoutesOptions): RequestHandler<{ id: string }> {
  const { pauses, flush, store, baseUrl, platform } = options
  return async (req, res) => {
    const pause = await pauses.find(ownerOf(req), req.params.id)
    if (!pause) throw new WebError(404, 'not_found', NO_PAUSE)
    await flush()
    const key = await fingerprintKey(store)
    const next = nextRequest(platform.platform, pause, baseUrl, key)
    const flow = await flowOfPause(
      options,
      requireUser(req),
      pause.state && fingerprintOf(new Secret('state', pause.state), key),
    )
    const page = pausePage(pause, next, platform, flow)
    const { method, url, parameters } = page.step.request
    sendPageOrJson(req, res, {
      view: 'flow-inspector/pause',
      title: page.title,
      data: { ...page, ...(flow && soFar(flow)), ...ASSETS, keepNotice: true },
      json: { stage: page.stage, request: { method, url, parameters }, flow: flow?.id ?? null },
    })
  }
}

/** The diagram of a paused flow. The browser has not left for the platform yet. */
const soFar = (flow: Flow) => ({
  diagram: drawDiagram(flow.steps.map((step, index) => ({ number: index + 1, ...step }))),
  flowPath: `/flows/${encodeURIComponent(flow.id)}`,
})

/** The flow that has the state of a pause, as a fingerprint; before there is one, the latest connect flow. */
async function flowOfPause({ flows, reader }: StepByStepRoutesOptions, userId: string, state: string | null) {
  const recent = (await flows.list(userId)).filter(({ kind }) => kind === 'connect').slice(0, SEARCHED)
  for (const { id } of recent) {
    const flow = await reader.load(userId, id)
    if (!flow) continue
    const known = flow.steps.flatMap(({ request, response }) => [
      ...(request?.parameters ?? []),
      ...(response?.parameters ?? []),
    ])
    if (state === null || known.some(({ fingerprint }) => fingerprint === state)) return flow
  }
  return null
}
