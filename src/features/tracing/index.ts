import type { Feature } from '../feature.ts'
import { running } from './running.ts'
import { type TracingSettings, tracingSettings } from './settings.ts'

/** Traces of OpenTelemetry (`OTEL_EXPORTER_OTLP_ENDPOINT`). `main.ts` starts them. */
export const tracing: Feature<TracingSettings> = {
  name: 'tracing',
  settings: tracingSettings,
  create({ log }) {
    running.log = log
    return { close: async () => running.stop?.() }
  },
}
