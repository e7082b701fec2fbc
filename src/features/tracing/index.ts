import { TOKEN_PATH } from '../../connect/platform/contract.ts'
import type { Feature } from '../feature.ts'
import { pathTemplates } from './path-template.ts'
import { running } from './running.ts'
import { type TracingSettings, tracingSettings } from './settings.ts'

/** Traces of OpenTelemetry (`OTEL_EXPORTER_OTLP_ENDPOINT`). `main.ts` starts them. */
export const tracing: Feature<TracingSettings> = {
  name: 'tracing',
  settings: tracingSettings,
  create({ log, loadContracts }, { isOn }) {
    running.log = log
    if (isOn) {
      // Calls before that are named by their method alone.
      void loadContracts().then((contracts) => {
        running.templateOf = pathTemplates([TOKEN_PATH, ...contracts.flatMap(({ paths }) => paths)])
      })
    }
    return { close: async () => running.stop?.() }
  },
}
