import * as z from 'zod'
import { flag, isProduction } from '../../settings/fields.ts'
import type { Environment, SettingsOf } from '../../settings/read.ts'

export const flowInspectorSettings = (env: Environment) =>
  z.object({
    isEnabled: flag(!isProduction(env)).meta({
      variable: 'FLOW_INSPECTOR',
      description: 'Whether flows are recorded and can be seen.',
    }),
  })

export type FlowInspectorSettings = SettingsOf<typeof flowInspectorSettings>
