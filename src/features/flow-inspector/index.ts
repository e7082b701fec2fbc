import { Router } from 'express'
import type { Feature } from '../feature.ts'
import { createFlowReader } from './flow-reader.ts'
import { createFlowStore } from './flow-store.ts'
import { operations } from './operations.ts'
import { fetchFromSandbox } from './platform-pages.ts'
import { createRecorder } from './recorder.ts'
import { flowRoutes } from './routes.ts'
import { type FlowInspectorSettings, flowInspectorSettings } from './settings.ts'

/** Records what happens on the wire, with secrets masked, and shows it step by step. */
export const flowInspector: Feature<FlowInspectorSettings> = {
  name: 'flow-inspector',
  settings: flowInspectorSettings,
  operations,
  create({ store, log, sandboxUrl, shutdownSignal }, { isEnabled }) {
    if (!isEnabled) return {}
    const flows = createFlowStore(store)
    const reader = createFlowReader(flows, store, sandboxUrl ? fetchFromSandbox(sandboxUrl) : undefined)
    const recorder = createRecorder({ flows, store, log, complete: reader.load })
    return {
      navigation: [{ href: '/flows', label: 'Flows' }],
      routes: Router().use(flowRoutes({ flows, reader, shutdownSignal })),
      close: recorder.close,
    }
  },
}
