import type { Feature } from '../../web/feature-api.ts'
import { type FlowInspectorSettings, flowInspectorSettings } from './settings.ts'

/**
 * Shows the HTTP messages of connect flows and API calls. Records each flow with masked secrets. Can pause a connect flow before
 * each redirect, and play scenarios against the sandbox.
 */
export default {
  title: 'Shows each request of a connect flow, step by step',
  order: 80,
  settings: flowInspectorSettings,
  async create(deps, { isEnabled }) {
    if (!isEnabled) return {}
    // Imported only here, because production does without it.
    const { createParts } = await import('./parts.ts')
    return createParts(deps)
  },
} satisfies Feature<FlowInspectorSettings>
