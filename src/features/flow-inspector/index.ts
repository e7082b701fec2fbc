import { Router } from 'express'
import { TOKEN_PATH } from '../../connect/platform/contract.ts'
import type { Feature } from '../feature.ts'
import { createFlowReader } from './flow-reader.ts'
import { createFlowStore } from './flow-store.ts'
import { operations } from './operations.ts'
import { createPauses } from './pauses.ts'
import { createRecorder } from './recorder.ts'
import { flowRoutes } from './routes.ts'
import { fetchFromSandbox } from './sandbox-pages.ts'
import { scenarioRoutes } from './scenarios/routes.ts'
import { createScenarioRunner } from './scenarios/runner.ts'
import { type FlowInspectorSettings, flowInspectorSettings } from './settings.ts'
import { createStepByStep } from './step-by-step.ts'
import { stepByStepRoutes } from './step-by-step-routes.ts'
import { tokenPanelRoutes } from './token-panel.ts'

const FLOWS = [{ href: '/flows', label: 'Flows' }]

/** Records what happens on the wire, with secrets masked, and shows it step by step. */
export const flowInspector: Feature<FlowInspectorSettings> = {
  name: 'flow-inspector',
  settings: flowInspectorSettings,
  operations,
  create(context, { isEnabled }) {
    if (!isEnabled) return {}
    const { connect, store, log, sandboxUrl, sendChanges, baseUrl, encryptionKeys, platform } = context
    const flows = createFlowStore(store)
    const reader = createFlowReader(flows, store, sandboxUrl ? fetchFromSandbox(sandboxUrl) : undefined)
    const recorder = createRecorder({ flows, store, log, complete: reader.load })
    const pauses = createPauses(store, encryptionKeys)
    const stepByStep = createStepByStep(store, pauses)
    // Scenarios sign in by name and set faults of the sandbox.
    const runner =
      context.demoSignIn && sandboxUrl
        ? createScenarioRunner({ connect, store, flows, reader, recorder, baseUrl, sandboxUrl })
        : null
    const canCallApi = () => context.connectionTests().length > 0
    return {
      middleware: stepByStep.middleware,
      connectControl: {
        view: 'flow-inspector/step-by-step-switch',
        load: async (req) => ({ isOn: await stepByStep.isOn(req) }),
      },
      connectionLinks: async () => [{ path: '/tokens', label: 'Tokens' }],
      navigation: runner ? [...FLOWS, { href: '/scenarios', label: 'Scenarios' }] : FLOWS,
      routes: Router()
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
              tokenUrl: platform.authUrl + TOKEN_PATH,
              redirectUri: `${baseUrl}/connect/callback`,
              clientId: platform.clientId,
              pkce: platform.pkce,
              isSandbox: sandboxUrl !== undefined,
            },
          }),
        )
        .use(tokenPanelRoutes({ vault: connect.vault, flows, requestedScopes: connect.oauth.scopes }))
        .use(runner ? scenarioRoutes(runner, canCallApi) : Router())
        .use(flowRoutes({ flows, reader, sendChanges })),
      close: recorder.close,
    }
  },
}
