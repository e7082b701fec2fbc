import { Router } from 'express'
import type { Feature } from '../feature.ts'
import { createFlowReader } from './flow-reader.ts'
import { createFlowStore } from './flow-store.ts'
import { createRecorder } from './recorder.ts'
import { flowRoutes } from './routes.ts'
import { fetchFromSandbox } from './sandbox-pages.ts'
import { type FlowInspectorSettings, flowInspectorSettings } from './settings.ts'
import { tokenPanelRoutes } from './token-panel.ts'

/** Records what happens on the wire, with secrets masked, and shows it step by step. */
export const flowInspector: Feature<FlowInspectorSettings> = {
  name: 'flow-inspector',
  settings: flowInspectorSettings,
  create(context, { isEnabled }) {
    if (!isEnabled) return {}
    const { connect, store, log, baseUrl, sandboxUrl, sendChanges } = context
    const flows = createFlowStore(store)
    const fetchPageSteps = sandboxUrl ? fetchFromSandbox(sandboxUrl) : undefined
    const reader = createFlowReader({ platform: connect.platform, flows, store, fetchPageSteps })
    const recorder = createRecorder({ connect, baseUrl, flows, store, log, complete: reader.load })
    const businessNames = async (userId: string) => {
      const connections = await connect.vault.list(userId)
      const named = connections.flatMap((one) =>
        'businessName' in one && one.businessName ? [[one.bxcontext, one.businessName] as const] : [],
      )
      return new Map(named)
    }
    return {
      connectionLinks: async () => [{ path: '/tokens', label: 'Tokens', isForDevelopers: true }],
      navigation: [{ href: '/flows', label: 'Flows' }],
      routes: Router()
        .use(tokenPanelRoutes({ vault: connect.vault, flows, requestedScopes: connect.oauth.scopes }))
        .use(flowRoutes({ flows, reader, businessNames, sendChanges })),
      async onHop(event) {
        recorder.hop(event)
        return event.target
      },
      flush: recorder.flush,
      close: recorder.close,
    }
  },
}
