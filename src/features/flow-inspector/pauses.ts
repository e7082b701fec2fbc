/**
 * The step-by-step mode: middleware before the core's connect routes answers with a page that shows the next request.
 * The button on that page repeats the request with the parameter `continue`, which the middleware lets through.
 */
import { promisify } from 'node:util'
import { type Request, type RequestHandler, type Response, Router } from 'express'
import * as z from 'zod'
import { browserSession } from '../../connect/express.ts'
import { createRecordCipher, type EncryptionKey, redirectUrls } from '../../connect/index.ts'
import {
  currentUser,
  isCustomerView,
  requireUser,
  returnToField,
  sendResultOrRedirect,
  switchField,
  WebError,
  wantsJson,
} from '../../web/feature-api.ts'
import type { Inspector } from './inspector.ts'
import { STEP_TEXTS, type StepText } from './step-texts.ts'
import { splitUrl } from './steps.ts'
import { PAGE_DATA, showParameter, showSteps } from './view.ts'
import { CONTINUE } from './visits.ts'

declare module 'express-session' {
  interface SessionData {
    /** Whether the connect flows of this browser session pause before each hop. */
    stepByStep: boolean
  }
}

/** The next request at each stage: the heading after “Next:”, and its explanation. */
const STAGES = {
  start: { heading: "the platform's start page", text: STEP_TEXTS.to_start_page },
  consent: { heading: 'the consent page', text: STEP_TEXTS.to_consent_page },
  exchange: { heading: 'exchange the code for tokens', text: STEP_TEXTS.code_exchange },
} satisfies Record<string, { heading: string; text: StepText }>

interface Pause {
  stage: keyof typeof STAGES
  /** The next request: one that the browser sends to the platform, or the callback. */
  next: string
  flowId: string | undefined
  /** Continues the paused request: by a link if it leads to another origin, where a form must not end, or else by a form. */
  onward: { href: string } | { action: string; fields: Record<string, string> }
}

/** Whether the connect flows of this browser session pause. They do not while the pages for developers are hidden. */
export const isStepByStep = (req: Request): boolean =>
  currentUser(req) !== null && req.session.stepByStep === true && !isCustomerView(req)

/** Pauses connect flows before the start page, before the consent page, and before the code exchange. */
export function pauseVisits(inspector: Inspector): Router {
  const { connect, keys, baseUrl } = inspector
  const { oauth, platform, flows } = connect
  const seal = sealOf(keys)
  const [, redirectUri] = redirectUrls(baseUrl)
  const flowsOf = (req: Request) => flows.read(browserSession(req, { requireUser }))
  return Router()
    .use(passOthers)
    .post('/connect', (req, res) => {
      // The back button could not reopen a page that answers a form.
      const { bxcontext = '' } = req.body ?? {}
      res.redirect(303, `/flows/pauses/start?${new URLSearchParams({ bxcontext: String(bxcontext) })}`)
    })
    .get('/connect/context', async (req, res, next) => {
      const { data: bxcontext } = platform.bxcontextSchema.safeParse(req.query[platform.startPage.bxcontext])
      const record = await flowsOf(req)
      const flow = record.flows.find(({ id }) => id === record.last)
      // After the back button, the flow is already waiting for consent. If the user continues, the core begins a new flow.
      const isOpen = flow?.phase === 'started' || flow?.phase === 'consenting'
      // The core answers all other visits directly, for example with a refusal or a question.
      if (bxcontext === undefined || !isOpen || (flow.expected ?? bxcontext) !== bxcontext) return next()
      const { href } = oauth.authorizationUrl({ ...flow, bxcontext, redirectUri })
      const onward = { href: `${req.originalUrl}&${CONTINUE}=yes` }
      await showPause(inspector, req, res, { stage: 'consent', next: href, flowId: flow.id, onward })
    })
    .get('/connect/callback', async (req, res, next) => {
      const { flows: all } = await flowsOf(req)
      const flow = all.find(({ state }) => state === req.query.state)
      if (flow?.phase !== 'consenting' || typeof req.query.code !== 'string') return next()
      // Removes the code from the address bar.
      res.redirect(303, `/flows/pauses/${seal.close(req)}`)
    })
}

/** Lets visits through that do not pause, including those that are not a top-level navigation: the core refuses them. */
const passOthers: RequestHandler = (req, _res, next) => {
  const isNavigation = (req.get('sec-fetch-dest') ?? 'document') === 'document'
  const isContinued = CONTINUE in { ...req.query, ...req.body }
  next(isStepByStep(req) && isNavigation && !isContinued && !wantsJson(req) ? undefined : 'router')
}

/** Routes that switch the mode, and that show and end the pause before a code exchange. */
export function pauseRoutes(inspector: Inspector): Router {
  const seal = sealOf(inspector.keys)
  return Router()
    .post('/step-by-step', turnStepByStep)
    .get('/pauses/start', async (req, res) => {
      requireUser(req)
      const fields = { bxcontext: String(req.query.bxcontext ?? ''), [CONTINUE]: 'yes' }
      const next = inspector.connect.oauth.startUrl(redirectUrls(inspector.baseUrl)[0]).href
      const onward = { action: '/connect', fields }
      await showPause(inspector, req, res, { stage: 'start', next, flowId: undefined, onward })
    })
    .get('/pauses/:id', async (req, res) => {
      const next = seal.open(req, req.params.id)
      const state = new URL(next, inspector.baseUrl).searchParams.get('state')
      const { flows: all } = await inspector.connect.flows.read(browserSession(req, { requireUser }))
      const flowId = all.find((flow) => flow.state === state)?.id
      const action = `/flows/pauses/${encodeURIComponent(req.params.id)}/continue`
      await showPause(inspector, req, res, {
        stage: 'exchange',
        next,
        flowId,
        onward: { action, fields: {} },
      })
    })
    .post('/pauses/:id/continue', (req, res) => {
      const next = seal.open(req, req.params.id)
      res.redirect(303, `${next}&${CONTINUE}=yes`)
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

/** Encrypts the path of a callback into the address of its pause, so that only this user and browser session can open it. */
function sealOf(keys: readonly EncryptionKey[]) {
  const cipher = createRecordCipher(keys)
  const place = (req: Request) => Object.values(browserSession(req, { requireUser })).join(' pause ')
  return {
    close: (req: Request) => encodeURIComponent(cipher.encrypt(req.originalUrl, place(req))),
    /** Throws `not_found` (404). */
    open(req: Request, id: string): string {
      const name = place(req)
      try {
        return cipher.decrypt(id, name)
      } catch {
        throw new WebError(404, 'not_found', 'This pause is over. Connect again.')
      }
    },
  }
}

async function showPause(inspector: Inspector, req: Request, res: Response, pause: Pause): Promise<void> {
  const { flows, recorder, masking, baseUrl } = inspector
  const { stage, next, flowId, onward } = pause
  const { heading, text } = STAGES[stage]
  // Ensures that the page shows every step recorded so far.
  await recorder.flush()
  const flow = flowId === undefined ? null : await flows.find(requireUser(req), flowId)
  const { address, query } = splitUrl(new URL(next, baseUrl))
  res.page('flow-inspector/pause', {
    ...PAGE_DATA,
    title: `Next: ${heading}`,
    stage,
    text,
    address,
    sent: masking.mask({ parameters: query }).parameters.map(showParameter),
    // The pages of the platform are not among these steps, because the browser has not left for them yet.
    steps: showSteps(flow?.steps ?? []),
    path: flow && `/flows/${encodeURIComponent(flow.id)}`,
    onward,
    keepNotice: true,
  })
}
