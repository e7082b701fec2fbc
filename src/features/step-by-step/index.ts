import type { Feature } from '../feature.ts'
import { createFlowReader } from '../flow-inspector/flow-reader.ts'
import { createFlowStore } from '../flow-inspector/flow-store.ts'
import { fetchFromSandbox } from '../flow-inspector/sandbox-pages.ts'
import { type FlowInspectorSettings, flowInspectorSettings } from '../flow-inspector/settings.ts'
import { createPauses } from './pauses.ts'
import { stepByStepRoutes } from './routes.ts'
import { createStepByStep } from './step-by-step.ts'

/** Pauses a connect flow before each hop, and shows the request that is made next. */
export const stepByStep: Feature<FlowInspectorSettings> = {
  name: 'step-by-step',
  needs: ['flow-inspector'],
  settings: flowInspectorSettings,
  create(context, { isEnabled }) {
    if (!isEnabled) return {}
    const { connect, store, sandboxUrl, baseUrl, encryptionKeys, flush, platform: client } = context
    const { platform } = connect
    const flows = createFlowStore(store)
    const fetchPageSteps = sandboxUrl ? fetchFromSandbox(sandboxUrl) : undefined
    const reader = createFlowReader({ platform, flows, store, fetchPageSteps })
    const pauses = createPauses(store, encryptionKeys)
    const mode = createStepByStep(store, pauses)
    return {
      onHop: mode.onHop,
      connectControl: {
        view: 'step-by-step/switch',
        load: async (req) => ({ isOn: await mode.isOn(req) }),
      },
      routes: stepByStepRoutes({
        stepByStep: mode,
        pauses,
        flows,
        reader,
        store,
        baseUrl,
        flush,
        platform: {
          platform,
          baseUrl,
          tokenUrl: client.authUrl + platform.tokenPath,
          clientId: client.clientId,
          pkce: client.pkce,
          isSandbox: sandboxUrl !== undefined,
        },
      }),
    }
  },
}
