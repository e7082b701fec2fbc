import { Router } from 'express'
import { type FeatureDeps, requireUser } from '../../web/feature-api.ts'
import { loadContracts } from '../contracts.ts'
import { isSandbox, toSheet } from './registration.ts'

export interface SetupState {
  isSandbox: boolean
  hasConnection: boolean
  hasOwnSignIn: boolean
}

/** A step from a clone to production. The page contains the text of each step. */
export interface Step {
  id: 'demo' | 'registration' | 'connect' | 'sign-in' | 'pages' | 'deploy'
  status: 'done' | 'next' | 'open'
}

/** The completed steps and the next step. A connection on the real platform proves the settings. */
export function stepsOf({ isSandbox, hasConnection, hasOwnSignIn }: SetupState): Step[] {
  const steps: [Step['id'], isDone: boolean][] = [
    ['demo', hasConnection || !isSandbox],
    ['registration', !isSandbox],
    ['connect', !isSandbox && hasConnection],
    ['sign-in', hasOwnSignIn],
    ['pages', false],
    ['deploy', false],
  ]
  const next = steps.findIndex(([, isDone]) => !isDone)
  return steps.map(([id, isDone], index) => ({
    id,
    status: isDone ? 'done' : index === next ? 'next' : 'open',
  }))
}

/** The setup page for developers, which does not exist in production. */
export function setupPage({ config, connect, signIn }: FeatureDeps): Router {
  return Router().get('/', async (req, res) => {
    const state = {
      isSandbox: isSandbox(config.platform),
      hasConnection: (await connect.vault.page(requireUser(req), { skip: 0, top: 1 })).items.length > 0,
      hasOwnSignIn: !signIn.isDemo,
    }
    const contracts = await loadContracts()
    const sheet = toSheet({ baseUrl: config.baseUrl, scopes: connect.oauth.scopes, contracts })
    const styles = ['/assets/setup/setup.css']
    res.page('setup/setup', { title: 'Setup', ...state, steps: stepsOf(state), sheet, styles })
  })
}
