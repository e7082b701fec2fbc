import { Router } from 'express'
import type { Feature, FeatureDeps, FeatureParts } from '../feature.ts'
import { loadFeatures } from '../load.ts'
import { createFlowReader } from './flow-reader.ts'
import { createFlowStore } from './flow-store.ts'
import { createRecorder } from './recorder.ts'
import { flowRoutes } from './routes.ts'
import { fetchFromSandbox } from './sandbox-pages.ts'
import { scenarioRoutes } from './scenarios/routes.ts'
import { createScenarioRunner } from './scenarios/runner.ts'
import { type FlowInspectorSettings, flowInspectorSettings } from './settings.ts'
import { createPauses } from './step-by-step/pauses.ts'
import { stepByStepRoutes } from './step-by-step/routes.ts'
import { createStepByStep } from './step-by-step/step-by-step.ts'
import { tokenPanelRoutes } from './token-panel.ts'

/**
 * Records what happens on the wire, with secrets masked, and shows it step by step; can pause a flow before each hop, and
 * plays scenarios against the sandbox.
 */
export default {
  title: 'Flow inspector',
  order: 80,
  settings: flowInspectorSettings,
  create: (deps, { isEnabled }) => (isEnabled ? createParts(deps) : {}),
} satisfies Feature<FlowInspectorSettings>

async function createParts(deps: FeatureDeps): Promise<FeatureParts> {
  const { config, connect, store, log, sendChanges } = deps
  const { vault, platform } = connect
  const { baseUrl, platform: client } = config
  const { sandboxUrl } = client
  const flows = createFlowStore(store)
  const fetchPageSteps = sandboxUrl ? fetchFromSandbox(sandboxUrl) : undefined
  const reader = createFlowReader({ platform, flows, store, fetchPageSteps })
  const recorder = createRecorder({ connect, baseUrl, flows, store, log, complete: reader.load })
  const pauses = createPauses(store, config.tokenEncryptionKeys)
  const stepByStep = createStepByStep(store, pauses)
  deps.onHop(async (event) => {
    recorder.hop(event)
    return stepByStep.onHop(event)
  })
  const businessNames = async (userId: string) => {
    const connections = await vault.list(userId)
    const named = connections.flatMap((one) =>
      'businessName' in one && one.businessName ? [[one.bxcontext, one.businessName] as const] : [],
    )
    return new Map(named)
  }
  const routes = Router()
    .use(tokenPanelRoutes({ vault, flows, requestedScopes: connect.oauth.scopes }))
    .use(flowRoutes({ flows, reader, businessNames, sendChanges }))
    .use(
      stepByStepRoutes({
        stepByStep,
        pauses,
        flows,
        reader,
        store,
        baseUrl,
        flush: recorder.flush,
        platform: {
          platform,
          baseUrl,
          tokenUrl: client.authUrl + platform.tokenPath,
          clientId: client.clientId,
          pkce: client.pkce,
          isSandbox: sandboxUrl !== undefined,
        },
      }),
    )
  const navigation = [{ href: '/flows', label: 'Flows' }]
  // Scenarios sign in by name and set faults of the sandbox.
  if (deps.hasDemoSignIn && sandboxUrl) {
    const { flush } = recorder
    const runner = createScenarioRunner({ connect, store, flows, reader, flush, baseUrl, sandboxUrl })
    const canCallApi = (await loadFeatures()).some(({ connectionTest }) => connectionTest !== undefined)
    routes.use(scenarioRoutes(runner, canCallApi))
    navigation.push({ href: '/scenarios', label: 'Scenarios' })
  }
  return {
    connectionLinks: async () => [{ path: '/tokens', label: 'Tokens', isForDevelopers: true }],
    navigation,
    sections: [
      {
        page: 'app/connections',
        view: 'flow-inspector/switch',
        load: async (req) => ({ data: { isOn: await stepByStep.isOn(req) }, json: {} }),
      },
    ],
    routes,
    stop: recorder.close,
  }
}
