import { type FeatureDeps, type FeatureParts, field } from '../../web/feature-api.ts'
import { createFlowStore } from './flow-store.ts'
import { createMasking } from './masking.ts'
import { isStepByStep, pauseRoutes, pauseVisits } from './pauses.ts'
import { Recorder } from './recorder.ts'
import { flowRoutes } from './routes.ts'
import { ScenarioPlayer } from './scenarios/player.ts'
import { demoRoutes, scenarioRoutes } from './scenarios/routes.ts'
import { recordVisits } from './visits.ts'

/** The pages of the inspector show flows of any state. */
const forDevelopers = { needsConnection: false, isForDevelopers: true }

/** The routes, links and sections of the inspector, and of the scenarios if it can play them. */
export function createParts(deps: FeatureDeps): FeatureParts {
  const { config, connect, store, log } = deps
  const { baseUrl, tokenEncryptionKeys: keys } = config
  const { sandboxUrl } = config.platform
  const masking = createMasking(connect.platform, keys)
  const flows = createFlowStore(store)
  const recorder = new Recorder({ connect, masking, flows, log })
  const inspector = { connect, keys, baseUrl, masking, flows, recorder }

  const parts = {
    navigation: [{ href: '/flows', label: 'Flows', isForDevelopers: true }],
    sections: [
      {
        page: 'app/connections',
        view: 'flow-inspector/switch',
        load: async (req) => ({ data: { isOn: isStepByStep(req) }, json: {} }),
      },
      { page: 'app/error', view: 'flow-inspector/failed-flow', load: async () => ({ data: {}, json: {} }) },
    ],
    routes: [
      { path: '/flows', router: flowRoutes(inspector), ...forDevelopers },
      { path: '/flows', router: pauseRoutes(inspector), ...forDevelopers },
      // At `/`, because traces would show the routes of only one of two parts at `/connect`.
      { path: '/', needsConnection: false, router: pauseVisits(inspector) },
      { path: '/', needsConnection: false, router: recordVisits(inspector) },
    ],
    stop: () => recorder.close(),
  } satisfies FeatureParts
  // Scenarios need the demo's sign-in, because they sign in by name, and the sandbox, because they set its faults.
  if (!deps.signIn.isDemo || !sandboxUrl) return parts
  const here = { [baseUrl]: field.localUrl({ HOST: config.host }, config.port) }
  const urls = { baseUrl, sandboxUrl, internalUrls: { ...config.platform.internalUrls, ...here } }
  const player = new ScenarioPlayer({ connect, store, flows, flush: () => recorder.flush(), ...urls })
  return {
    ...parts,
    routes: [
      ...parts.routes,
      { path: '/scenarios', router: scenarioRoutes(player), ...forDevelopers },
      { path: '/demo', needsConnection: false, router: demoRoutes(player) },
    ],
    navigation: [...parts.navigation, { href: '/scenarios', label: 'Scenarios', isForDevelopers: true }],
    sections: [
      ...parts.sections,
      { page: 'app/home', view: 'flow-inspector/new-demo', load: async () => ({ data: {}, json: {} }) },
    ],
  }
}
