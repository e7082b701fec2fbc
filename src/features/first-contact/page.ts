import { type RequestHandler, Router } from 'express'
import { type FeatureDeps, type Finding, requireUser } from '../../web/kit.ts'
import { loadContracts } from '../contracts.ts'
import { readReport, sectionsOf, summaryOf } from './consent/report.ts'
import { checkFailed, isSandbox, runDoctor } from './doctor.ts'
import { toSheet } from './registration.ts'
import { stepsOf } from './steps.ts'

/** The page for the developers of this app, which does not exist in production. */
export function setupPage(deps: FeatureDeps): Router {
  return Router().get('/', handler(deps))
}

function handler(deps: FeatureDeps): RequestHandler {
  const { config, connect, hasDemoSignIn } = deps
  const check = remembered(() => Array.fromAsync(runDoctor(deps)))
  return async (req, res) => {
    const userId = requireUser(req)
    const findings = await check()
    const compared = readReport(config.platform.apiUrl)
    const state = {
      isSandbox: isSandbox(config.platform),
      hasConnection: (await connect.vault.list(userId)).length > 0,
      hasOwnSignIn: !hasDemoSignIn,
      findings,
      compared,
    }
    const contracts = await loadContracts()
    const { baseUrl } = config
    const registration = toSheet({ baseUrl, scopes: connect.oauth.scopes, contracts })
    res.page('first-contact/setup', {
      title: 'Setup',
      ...state,
      steps: stepsOf(state),
      summary: compared && summaryOf(compared),
      sections: sectionsOf(compared ?? []),
      registration,
      styles: ['/assets/first-contact/first-contact.css'],
    })
  }
}

const FRESH_MS = 60_000

/**
 * Runs the checks at most once a minute, however many pages ask: they send wrong credentials, for which a platform may lock an app
 * out.
 */
export function remembered(
  check: () => Promise<Finding[]>,
  now = () => performance.now(),
): () => Promise<Finding[]> {
  let last: { findings: Promise<Finding[]>; at: number } | undefined
  return () => {
    if (!last || now() - last.at > FRESH_MS)
      last = { at: now(), findings: check().catch((error: Error) => [checkFailed('doctor', error)]) }
    return last.findings
  }
}
