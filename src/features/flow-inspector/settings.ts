import * as z from 'zod'
import { type Environment, field, type SettingsOf } from '../../web/feature-api.ts'

export const flowInspectorSettings = (env: Environment) =>
  z.object({
    isEnabled: field.flag(!field.isProduction(env)).meta({
      variable: 'FLOW_INSPECTOR',
      description: 'Whether flows are recorded and can be seen.',
    }),
  })

export type FlowInspectorSettings = SettingsOf<typeof flowInspectorSettings>
