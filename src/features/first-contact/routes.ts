import { type RequestHandler, Router } from 'express'
import * as z from 'zod'
import { describeRoute } from '../../connect/express.ts'
import { sendPageOrJson, wantsJson } from '../../web/respond.ts'
import { requireUser } from '../../web/user.ts'
import { loadContracts } from '../contracts.ts'
import type { FeatureDeps } from '../feature.ts'
import { createDoctorRuns, type DoctorRuns } from './doctor-runs.ts'
import { registrationOf } from './registration.ts'
import type { SetupSettings } from './settings.ts'
import { readProbeReport, stepsOf } from './steps.ts'

const POLL_MS = 300
const STYLES = ['/assets/first-contact/first-contact.css']

const stepSchema = z.object({
  id: z.string(),
  title: z.string(),
  status: z.enum(['done', 'next', 'open']),
  state: z.string(),
})
const findingSchema = z.object({
  id: z.string().meta({ description: 'docs/first-contact.md, or the page of the feature, has each id.' }),
  status: z.enum(['ok', 'warning', 'failure']),
  text: z.string(),
  setting: z.string().optional(),
  value: z.string().optional(),
})
const registrationSchema = z.object({
  appName: z.string(),
  logoUrl: z.string().nullable(),
  warnings: z.array(z.string()),
  environments: z.array(
    z.object({
      name: z.string(),
      setting: z.string(),
      urls: z.array(z.string()),
      warnings: z.array(z.string()),
    }),
  ),
  scopes: z.array(z.object({ name: z.string(), reasons: z.array(z.string()) })),
  answers: z.array(z.object({ what: z.string(), setting: z.string() })),
  questions: z.array(
    z.object({ id: z.string(), topic: z.string(), assumed: z.string(), importance: z.number() }),
  ),
})

/** The pages for the developers of this app; not in production. */
export function setupRoutes(deps: FeatureDeps, settings: SetupSettings): Router {
  const doctor = createDoctorRuns(async function* () {
    // Loaded on demand: most processes never need it.
    const { runDoctor } = await import('./doctor/doctor.ts')
    yield* runDoctor(deps)
  })
  return Router()
    .get(
      '/setup',
      describeRoute({
        summary: '`{steps}`: the steps from a clone to production, with what is done and what is next.',
        response: z.object({ steps: z.array(stepSchema) }),
      }),
      stepsHandler(deps, doctor),
    )
    .get(
      '/doctor',
      describeRoute({
        summary: '`{findings}`: what the doctor finds. As JSON, the response waits for the checks.',
        response: z.object({ findings: z.array(findingSchema) }),
      }),
      doctorHandler(doctor),
    )
    .get(
      '/doctor/live',
      describeRoute({
        summary: 'Server-sent events.',
        response: z.string(),
        responseType: 'text/event-stream',
      }),
      (req, res) => {
        requireUser(req)
        const getSnapshot = async () => (doctor.isRunning ? 'running' : null)
        deps.sendChanges(req, res, { getSnapshot, everyMs: POLL_MS })
      },
    )
    .get(
      '/registration',
      describeRoute({ summary: 'What `npm run registration` prints.', response: registrationSchema }),
      registrationHandler(deps, settings),
    )
}

function stepsHandler({ config, connect, hasDemoSignIn }: FeatureDeps, doctor: DoctorRuns): RequestHandler {
  const { apiUrl, sandboxUrl } = config.platform
  return async (req, res) => {
    const userId = requireUser(req)
    const findings = doctor.latest()
    const steps = stepsOf({
      isSandbox: sandboxUrl !== undefined && new URL(sandboxUrl).origin === new URL(apiUrl).origin,
      hasConnection: (await connect.vault.list(userId)).length > 0,
      hasOwnSignIn: !hasDemoSignIn,
      findings,
      probe: readProbeReport(apiUrl),
    })
    const problems = findings?.filter(({ status }) => status !== 'ok')
    sendPageOrJson(req, res, {
      view: 'first-contact/setup',
      title: 'Setup',
      data: { steps, problems, isRunning: doctor.isRunning, styles: STYLES },
      json: { steps },
    })
  }
}

function doctorHandler(doctor: DoctorRuns): RequestHandler {
  return async (req, res) => {
    requireUser(req)
    res.vary('Accept')
    if (wantsJson(req)) return void res.json({ findings: await doctor.run() })
    const findings = doctor.latest()
    res.page('first-contact/doctor', {
      title: 'Doctor',
      findings,
      isRunning: doctor.isRunning,
      styles: STYLES,
    })
  }
}

function registrationHandler({ config, connect }: FeatureDeps, settings: SetupSettings): RequestHandler {
  const { baseUrl } = config
  return async (req, res) => {
    requireUser(req)
    const contracts = await loadContracts()
    const registration = registrationOf({ ...settings, baseUrl, scopes: connect.oauth.scopes, contracts })
    sendPageOrJson(req, res, {
      view: 'first-contact/registration',
      title: 'Registration',
      data: { registration, styles: STYLES },
      json: registration,
    })
  }
}
