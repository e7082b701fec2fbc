import { pathTemplates } from '../../connect/index.ts'
import type { Feature } from '../feature.ts'
import { running } from './running.ts'
import { type TracingSettings, tracingSettings } from './settings.ts'

/** Traces of OpenTelemetry (`OTEL_EXPORTER_OTLP_ENDPOINT`). `main.ts` starts them. */
export const tracing: Feature<TracingSettings> = {
  name: 'tracing',
  settings: tracingSettings,
  create({ log, connect, platform: { apiUrl, authUrl }, loadContracts }, { isOn }) {
    running.log = log
    if (isOn) {
      // Calls before that are named by their method alone.
      void loadContracts().then((contracts) => {
        const ofAuth = pathTemplates(authUrl, [connect.platform.tokenPath])
        const ofApi = pathTemplates(
          apiUrl,
          contracts.flatMap(({ paths }) => paths),
        )
        running.templateOf = (url) => ofAuth(url) ?? ofApi(url)
      })
    }
    return { close: async () => running.stop?.() }
  },
}
