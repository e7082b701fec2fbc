import * as field from '../../settings/fields.ts'
import { type SettingsOf, settingsGroup } from '../../settings/read.ts'

export type TracingSettings = SettingsOf<typeof tracingSettings>

export const tracingSettings = settingsGroup({
  variables: (env) => ({
    // The exporter reads it itself, and a few others (docs/tracing.md).
    OTEL_EXPORTER_OTLP_ENDPOINT: field
      .baseAddress({ hint: '', env: { ...env, NODE_ENV: 'development' }, parts: ['a path'] })
      .optional(),
  }),
  build: ({ OTEL_EXPORTER_OTLP_ENDPOINT }) => ({ isOn: OTEL_EXPORTER_OTLP_ENDPOINT !== undefined }),
})
