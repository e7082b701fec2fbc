import { type RequestHandler, Router } from 'express'
import * as z from 'zod'
import { AppError } from '../../connect/errors.ts'
import { describeRoute } from '../../connect/express.ts'
import { type Platform, redirectUrls } from '../../connect/index.ts'
import { sendOnward, sendPageOrJson, sendResultOrRedirect } from '../../web/respond.ts'
import { localPath } from '../../web/return-to.ts'
import { texts } from '../../web/texts.ts'
import { requireUser } from '../../web/user.ts'
import { CODE_LIFETIME_MS, SANDBOX_CODE_LIFETIME_MS } from './contract.ts'
import { type Flow, type Parameter, parameterSchema } from './flow.ts'
import type { FlowStore } from './flow-store.ts'
import type { Masking } from './masking.ts'
import { type Pause, type Pauses, STAGES, type Stage } from './pauses.ts'
import { STEP_TEXTS, type StepText } from './step-texts.ts'
import { splitUrl } from './steps.ts'
import { byInterest, PAGE_DATA, showParameter, showSteps } from './view.ts'

export interface PauseRoutesOptions {
  pauses: Pauses
  flows: FlowStore
  masking: Masking
  /** Stores what was recorded so far, so that the page shows it. */
  flush(): Promise<void>
  /** The address of this app. */
  baseUrl: string
  platform: Platform
  /** This app at the platform. */
  client: { tokenUrl: string; clientId: string; pkce: boolean; isSandbox: boolean }
}

class PauseOverError extends AppError {
  readonly code = 'not_found'
  readonly status = 404
  constructor() {
    super('A connect flow lasts 15 minutes. Connect again.', { title: 'This pause is over' })
  }
}

const pauseSchema = z.object({
  stage: z.enum(STAGES),
  request: z.object({ method: z.string(), url: z.string(), parameters: z.array(parameterSchema) }),
  flow: z.string().nullable(),
})

/** Routes that switch the step-by-step mode, and show and end its pauses. */
export function pauseRoutes(options: PauseRoutesOptions): Router {
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
      turnStepByStep,
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
        const pause = await options.pauses.end(req, req.params.id)
        if (!pause) throw new PauseOverError()
        sendOnward(req, res, pause.target, texts.toPlatform)
      },
    )
}

const turnStepByStep: RequestHandler = async (req, res) => {
  requireUser(req)
  const on = req.body?.on === 'true' || req.body?.on === true
  req.session.stepByStep = on
  const notice = on ? 'Step by step is on: connecting pauses before each hop.' : 'Step by step is off.'
  await sendResultOrRedirect(req, res, localPath(req.body?.returnTo) ?? '/connections', { on }, { notice })
}

function pauseHandler(options: PauseRoutesOptions): RequestHandler<{ id: string }> {
  const { pauses, flows, flush } = options
  return async (req, res) => {
    const pause = await pauses.find(req, req.params.id)
    if (!pause) throw new PauseOverError()
    await flush()
    const flow = await flows.find(requireUser(req), pause.flowId)
    const page = viewOfPause(options, pause, flow)
    const { method, url, parameters } = page.step.request
    sendPageOrJson(req, res, {
      view: 'flow-inspector/pause',
      title: page.title,
      data: { ...PAGE_DATA, ...page, keepNotice: true },
      json: { stage: pause.stage, request: { method, url, parameters }, flow: flow?.id ?? null },
    })
  }
}

/** What is paused at each stage: its heading, behind “Next:”, and its text. */
const STAGE_TEXTS: Record<Stage, { heading: string; text: Pick<StepText, 'about' | 'reference'> }> = {
  start: { heading: "the platform's start page", text: STEP_TEXTS.to_start_page },
  consent: { heading: 'the consent page', text: STEP_TEXTS.to_consent_page },
  exchange: { heading: 'exchange the code for tokens', text: STEP_TEXTS.code_exchange },
  result: { heading: 'back to your connections', text: STEP_TEXTS.record_written },
}
const NO_CODE = {
  about: 'There is no code to exchange. Next, the app shows why, and offers to connect again.',
  reference: 'RFC 6749 section 4.1.2.1',
}

/** What the page of a pause shows: the request that is made next, and the flow so far, if it is known. */
function viewOfPause(options: PauseRoutesOptions, pause: Pause, flow: Flow | null) {
  const { masking, baseUrl, client } = options
  const { id, stage, at, isContinued } = pause
  const { address, query } = splitUrl(new URL(pause.target, baseUrl))
  const { parameters } = masking.mask({ parameters: query })
  const error = parameters.find(({ name }) => name === 'error')?.value
  const hasCode = error === undefined && parameters.some(({ name }) => name === 'code')
  const isFailed = stage === 'exchange' ? !hasCode : address.endsWith('/connect/failed')
  const isExchange = stage === 'exchange' && hasCode
  const request = isExchange
    ? { method: 'POST', url: client.tokenUrl, parameters: exchangeParameters(options, parameters, flow) }
    : { method: 'GET', url: address, parameters }
  const lifetime = client.isSandbox ? SANDBOX_CODE_LIFETIME_MS : CODE_LIFETIME_MS
  const failed = stage === 'exchange' ? NO_CODE : STEP_TEXTS.flow_failed
  return {
    id,
    stage,
    isContinued,
    isFailed,
    title: titleOf(pause, isFailed, error),
    text: isFailed ? failed : STAGE_TEXTS[stage].text,
    step: { request, sent: byInterest(request.parameters.map(showParameter)), received: [] },
    codeExpiresAt: isExchange && !isContinued ? new Date(at + lifetime).toISOString() : null,
    // Without hidden pages: the browser has not left for the platform yet.
    steps: showSteps(flow?.steps ?? []),
    path: flow && `/flows/${encodeURIComponent(flow.id)}`,
  }
}

function titleOf({ stage, isContinued }: Pause, isFailed: boolean, error: string | undefined): string {
  const isAnswer = isFailed && stage === 'exchange'
  const failed = isAnswer ? 'an answer without a code' : 'the page that shows why it failed'
  const heading = isFailed ? failed : STAGE_TEXTS[stage].heading
  if (isContinued) return `Already continued: ${heading}`
  if (!isAnswer) return `Next: ${heading}`
  if (error === undefined) return 'The platform sent no code'
  return error === 'access_denied'
    ? 'The user denied access'
    : `The platform answered with an error: ${error}`
}

/** The body of the token request. Only the core knows the verifier and the client secret, so they have no value. */
function exchangeParameters(
  { platform, baseUrl, client: { clientId, pkce } }: PauseRoutesOptions,
  arrived: readonly Parameter[],
  flow: Flow | null,
): Parameter[] {
  return [
    ...(flow?.bxcontext ? [{ name: platform.bxcontextParameter, value: flow.bxcontext }] : []),
    { name: 'redirect_uri', value: redirectUrls(baseUrl)[1] },
    ...arrived.filter(({ name }) => name === 'code'),
    ...(pkce ? [{ name: 'code_verifier' }] : []),
    { name: 'grant_type', value: 'authorization_code' },
    { name: 'client_id', value: clientId },
    { name: 'client_secret' },
  ]
}
