import { flag, isProduction } from '../../settings/fields.ts'
import { type SettingsOf, settingsGroup } from '../../settings/read.ts'

export const flowInspectorSettings = settingsGroup({
  variables: (env) => ({
    FLOW_INSPECTOR: flag(!isProduction(env)).meta({
      description: 'Whether flows are recorded and can be seen.',
    }),
  }),
  build: (values) => ({
    /** Whether flows are recorded and can be seen; by default in development only. */
    isEnabled: values.FLOW_INSPECTOR,
  }),
})

export type FlowInspectorSettings = SettingsOf<typeof flowInspectorSettings>
