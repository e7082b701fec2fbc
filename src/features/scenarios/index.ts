import type { Feature } from '../feature.ts'
import { createFlowReader } from '../flow-inspector/flow-reader.ts'
import { createFlowStore } from '../flow-inspector/flow-store.ts'
import { fetchFromSandbox } from '../flow-inspector/sandbox-pages.ts'
import { type FlowInspectorSettings, flowInspectorSettings } from '../flow-inspector/settings.ts'
import { scenarioRoutes } from './routes.ts'
import { createScenarioRunner } from './runner.ts'

/** Stories between this app and the sandbox, with one click each. */
export const scenarios: Feature<FlowInspectorSettings> = {
  name: 'scenarios',
  needs: ['flow-inspector'],
  settings: flowInspectorSettings,
  create(context, { isEnabled }) {
    const { connect, store, sandboxUrl, baseUrl, flush, demoSignIn } = context
    // Scenarios sign in by name and set faults of the sandbox.
    if (!isEnabled || !demoSignIn || !sandboxUrl) return {}
    const flows = createFlowStore(store)
    const fetchPageSteps = fetchFromSandbox(sandboxUrl)
    const reader = createFlowReader({ platform: connect.platform, flows, store, fetchPageSteps })
    const runner = createScenarioRunner({ connect, store, flows, reader, flush, baseUrl, sandboxUrl })
    return {
      navigation: [{ href: '/scenarios', label: 'Scenarios' }],
      routes: scenarioRoutes(runner, () => context.connectionTests().length > 0),
    }
  },
}
