import { promisify } from 'node:util'
import { type RequestHandler, Router } from 'express'
import * as z from 'zod'
import { AppError } from '../../connect/errors.ts'
import {
  requireUser,
  returnToField,
  sendOnward,
  sendPageOrJson,
  sendResultOrRedirect,
  switchField,
  webTexts as texts,
} from '../../web/kit.ts'
import type { Flow } from './flow.ts'
import type { FlowStore } from './flow-store.ts'
import type { Masking } from './masking.ts'
import type { Pause, Pauses, Stage } from './pauses.ts'
import { STEP_TEXTS, type StepText } from './step-texts.ts'
import { splitUrl } from './steps.ts'
import { PAGE_DATA, showParameter, showSteps } from './view.ts'

export interface PauseRoutesOptions {
  pauses: Pauses
  flows: FlowStore
  masking: Masking
  /** Stores what was recorded so far, so that the page shows it. */
  flush(): Promise<void>
  /** The address of this app. */
  baseUrl: string
}

class PauseOverError extends AppError {
  readonly code = 'not_found'
  readonly status = 404
  readonly title = 'This pause is over'
  constructor() {
    super('A connect flow lasts 15 minutes. Connect again.')
  }
}

/** Routes that switch the step-by-step mode, and show and end its pauses. */
export function pauseRoutes(options: PauseRoutesOptions): Router {
  return Router()
    .post('/step-by-step', turnStepByStep)
    .get('/pauses/:id', pauseHandler(options))
    .post('/pauses/:id/continue', async (req, res) => {
      const pause = await options.pauses.end(req, req.params.id)
      if (!pause) throw new PauseOverError()
      sendOnward(req, res, pause.target, texts.toPlatform)
    })
}

const switchSchema = z.object({ on: switchField, returnTo: returnToField })

const turnStepByStep: RequestHandler = async (req, res) => {
  requireUser(req)
  const { on, returnTo } = switchSchema.parse(req.body ?? {})
  req.session.stepByStep = on
  await promisify(req.session.save).call(req.session)
  const notice = on ? 'Step by step is on: connecting pauses before each hop.' : 'Step by step is off.'
  await sendResultOrRedirect(req, res, returnTo ?? '/connections', { on }, { notice })
}

function pauseHandler(options: PauseRoutesOptions): RequestHandler<{ id: string }> {
  const { pauses, flows, flush } = options
  return async (req, res) => {
    const pause = await pauses.find(req, req.params.id)
    if (!pause) throw new PauseOverError()
    await flush()
    const flow = await flows.find(requireUser(req), pause.flowId)
    const page = viewOfPause(options, pause, flow)
    sendPageOrJson(req, res, {
      view: 'flow-inspector/pause',
      title: page.title,
      data: { ...PAGE_DATA, ...page, keepNotice: true },
      json: { stage: pause.stage, request: page.request, flow: flow?.id ?? null },
    })
  }
}

/** What comes next at each stage: the heading after “Next:”, and its text. */
const STAGE_TEXTS: Record<Stage, { heading: string; text: Pick<StepText, 'about' | 'reference'> }> = {
  start: { heading: "the platform's start page", text: STEP_TEXTS.to_start_page },
  consent: { heading: 'the consent page', text: STEP_TEXTS.to_consent_page },
  exchange: { heading: 'exchange the code for tokens', text: STEP_TEXTS.code_exchange },
  result: { heading: 'back to your connections', text: STEP_TEXTS.record_written },
}

/** What the page of a pause shows: the request that the browser makes next, and the flow so far, if it is known. */
function viewOfPause({ masking, baseUrl }: PauseRoutesOptions, pause: Pause, flow: Flow | null) {
  const { id, stage, isContinued } = pause
  const { heading, text } = STAGE_TEXTS[stage]
  const { address: url, query } = splitUrl(new URL(pause.target, baseUrl))
  const { parameters } = masking.mask({ parameters: query })
  return {
    id,
    stage,
    isContinued,
    title: `${isContinued ? 'Already continued' : 'Next'}: ${heading}`,
    text,
    request: { method: 'GET', url, parameters },
    sent: parameters.map(showParameter),
    // The pages of the platform are not among these steps, because the browser has not left for them yet.
    steps: showSteps(flow?.steps ?? []),
    path: flow && `/flows/${encodeURIComponent(flow.id)}`,
  }
}
