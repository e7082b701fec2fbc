import type { Vault } from '../../connect/index.ts'
import { type Feature, type FeatureDeps, type FeatureParts, field, nameOf } from '../../web/kit.ts'
import { createFlowStore, type FlowStore } from './flow-store.ts'
import { createMasking } from './masking.ts'
import { pauseRoutes } from './pause-routes.ts'
import { createPauses, isStepByStep } from './pauses.ts'
import { Recorder } from './recorder.ts'
import { flowRoutes } from './routes.ts'
import { ScenarioPlayer } from './scenarios/player.ts'
import { demoRoutes, scenarioRoutes } from './scenarios/routes.ts'
import { type FlowInspectorSettings, flowInspectorSettings } from './settings.ts'
import { tokenRoutes } from './tokens.ts'

/**
 * Shows connect flows and API calls on the wire. It records each flow, with its secrets masked. It can pause a connect flow before
 * each hop, and play scenarios against the sandbox.
 */
export default {
  title: 'Shows each request of a connect flow, step by step',
  order: 80,
  settings: flowInspectorSettings,
  create: (deps, { isEnabled }) => (isEnabled ? createParts(deps) : {}),
} satisfies Feature<FlowInspectorSettings>

function createParts(deps: FeatureDeps): FeatureParts {
  const { config, connect, store, log } = deps
  const { vault, platform, oauth } = connect
  const { baseUrl, tokenEncryptionKeys: keys } = config
  const { sandboxUrl } = config.platform
  const masking = createMasking(platform, keys)
  const flows = createFlowStore(store)
  const recorder = new Recorder({ connect, masking, baseUrl, flows, log })
  const flush = () => recorder.flush()
  const pauses = createPauses(store, keys)

  const tokens = tokenRoutes({ vault, flows, requestedScopes: oauth.scopes })
  const parts = {
    connectionLinks: async () => [{ path: '/tokens', label: 'Tokens', isForDevelopers: true }],
    navigation: [{ href: '/flows', label: 'Flows' }],
    sections: [
      {
        page: 'app/connections',
        view: 'flow-inspector/switch',
        load: async (req) => ({ data: { isOn: isStepByStep(req) }, json: {} }),
      },
      { page: 'app/error', view: 'flow-inspector/failed-flow', load: async () => ({ data: {}, json: {} }) },
    ],
    routes: [
      { path: '/connections/:bxcontext/tokens', router: tokens },
      { path: '/flows', router: flowRoutes({ flows, names: namesIn(flows, vault) }) },
      { path: '/flows', router: pauseRoutes({ pauses, flows, masking, flush, baseUrl }) },
    ],
    async onHop(event) {
      recorder.hop(event)
      return pauses.onHop(event)
    },
    stop: () => recorder.close(),
  } satisfies FeatureParts
  // Scenarios need the demo's sign-in, where they sign in by name, and the sandbox, where they set faults.
  if (!deps.hasDemoSignIn || !sandboxUrl) return parts
  const here = { [baseUrl]: field.localUrl({ HOST: config.host }, config.port) }
  const urls = { baseUrl, sandboxUrl, internalUrls: { ...config.platform.internalUrls, ...here } }
  const player = new ScenarioPlayer({ connect, store, flows, flush, ...urls })
  return {
    ...parts,
    demoPath: '/demo',
    routes: [
      ...parts.routes,
      { path: '/scenarios', router: scenarioRoutes(player) },
      { path: '/demo', router: demoRoutes(player) },
    ],
    navigation: [...parts.navigation, { href: '/scenarios', label: 'Scenarios' }],
    sections: [
      ...parts.sections,
      { page: 'app/home', view: 'flow-inspector/new-demo', load: async () => ({ data: {}, json: {} }) },
    ],
  }
}

/** The names by which a user knows businesses: those that flows have recorded, and those of the present connections. */
const namesIn =
  (flows: FlowStore, vault: Vault) =>
  async (userId: string): Promise<Map<string, string>> => {
    const recorded = new Map<string, string | null>()
    for (const { bxcontext, businessName } of await flows.list(userId))
      if (bxcontext !== null) recorded.set(bxcontext, recorded.get(bxcontext) ?? businessName)
    const names = new Map<string, string>()
    for (const [bxcontext, businessName] of recorded) {
      const connection = await vault.findAny({ userId, bxcontext })
      const name = connection ? nameOf(connection) : businessName
      if (name !== null) names.set(bxcontext, name)
    }
    return names
  }
