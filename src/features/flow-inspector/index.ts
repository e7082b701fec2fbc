import { Router } from 'express'
import { TOKEN_PATH } from '../../connect/platform/contract.ts'
import type { Feature } from '../feature.ts'
import { createFlowReader } from './flow-reader.ts'
import { createFlowStore } from './flow-store.ts'
import { operations } from './operations.ts'
import { fetchFromSandbox } from './platform-pages.ts'
import { createRecorder } from './recorder.ts'
import { flowRoutes } from './routes.ts'
import { type FlowInspectorSettings, flowInspectorSettings } from './settings.ts'
import { createStepByStep } from './step-by-step.ts'
import { stepByStepRoutes } from './step-by-step-routes.ts'

/** Records what happens on the wire, with secrets masked, and shows it step by step. */
export const flowInspector: Feature<FlowInspectorSettings> = {
  name: 'flow-inspector',
  settings: flowInspectorSettings,
  operations,
  create(context, { isEnabled }) {
    if (!isEnabled) return {}
    const { store, log, sandboxUrl, shutdownSignal, baseUrl, encryptionKeys, platform } = context
    const flows = createFlowStore(store)
    const reader = createFlowReader(flows, store, sandboxUrl ? fetchFromSandbox(sandboxUrl) : undefined)
    const recorder = createRecorder({ flows, store, log, complete: reader.load })
    const stepByStep = createStepByStep({ store, encryptionKeys })
    return {
      middleware: stepByStep.middleware,
      navigation: [{ href: '/flows', label: 'Flows' }],
      routes: Router()
        .use(
          stepByStepRoutes({
            ...{ stepByStep, flows, reader, store, baseUrl, flush: recorder.flush },
            platform: {
              tokenUrl: platform.authUrl + TOKEN_PATH,
              redirectUri: `${baseUrl}/connect/callback`,
              clientId: platform.clientId,
              isSandbox: sandboxUrl !== undefined,
            },
          }),
        )
        .use(flowRoutes({ flows, reader, shutdownSignal })),
      close: recorder.close,
    }
  },
}
