import { Router } from 'express'
import { sendPageOrJson, wantsJson } from '../../web/respond.ts'
import { requireUser } from '../../web/user.ts'
import type { FeatureContext } from '../feature.ts'
import { createDoctorRuns } from './doctor-runs.ts'
import { registrationOf } from './registration.ts'
import type { SetupSettings } from './settings.ts'
import { readProbeReport, stepsOf } from './steps.ts'

const POLL_MS = 300
const STYLES = ['/assets/setup/setup.css']

/** The pages for the developers of this app; not in production. */
export function setupRoutes(context: FeatureContext, settings: SetupSettings): Router {
  const { connect, baseUrl, platform, sandboxUrl, sendChanges } = context
  const doctor = createDoctorRuns(async function* () {
    // Loaded on demand: most processes never need it.
    const { runDoctor } = await import('../doctor/doctor.ts')
    yield* runDoctor(context.doctorOptions)
  })

  return Router()
    .get('/setup', async (req, res) => {
      const userId = requireUser(req)
      const findings = doctor.latest()
      const steps = stepsOf({
        isSandbox: sandboxUrl !== undefined && new URL(sandboxUrl).origin === new URL(platform.apiUrl).origin,
        hasConnection: (await connect.vault.list(userId)).length > 0,
        hasOwnSignIn: !context.demoSignIn,
        findings,
        probe: readProbeReport(platform.apiUrl),
      })
      const problems = findings?.filter(({ status }) => status !== 'ok')
      sendPageOrJson(req, res, {
        view: 'setup/setup',
        title: 'Setup',
        data: { steps, problems, isRunning: doctor.isRunning, styles: STYLES },
        json: { steps },
      })
    })
    .get('/doctor', async (req, res) => {
      requireUser(req)
      if (wantsJson(req)) return void res.vary('Accept').json({ findings: await doctor.run() })
      res.vary('Accept')
      const findings = doctor.latest()
      res.page('setup/doctor', {
        title: 'Doctor',
        findings,
        isRunning: doctor.isRunning,
        styles: STYLES,
      })
    })
    .get('/doctor/live', (req, res) => {
      requireUser(req)
      const getSnapshot = async () => (doctor.isRunning ? 'running' : null)
      sendChanges(req, res, { getSnapshot, everyMs: POLL_MS })
    })
    .get('/registration', async (req, res) => {
      requireUser(req)
      const contracts = await context.loadContracts()
      const registration = registrationOf({ ...settings, baseUrl, scopes: connect.oauth.scopes, contracts })
      sendPageOrJson(req, res, {
        view: 'setup/registration',
        title: 'Registration',
        data: { registration, styles: STYLES },
        json: registration,
      })
    })
}
