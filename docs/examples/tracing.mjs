import { register } from 'node:module'
import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { ExpressInstrumentation, ExpressLayerType } from '@opentelemetry/instrumentation-express'
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http'
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'

// Everything else is removed: queries have codes and states, paths have ids, and errors may have anything in their messages.
const KEPT = /^(http\.(request\.method|response\.status_code|route)|server\.(address|port)|error\.type)$/
const withoutSecrets = {
  onStart() {},
  onEnd({ attributes, status }) {
    for (const name of Object.keys(attributes)) if (!KEPT.test(name)) delete attributes[name]
    delete status.message
  },
  forceFlush: async () => {},
  shutdown: async () => {},
}

// Before Express is loaded.
register('@opentelemetry/instrumentation/hook.mjs', import.meta.url)
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
const exporter = new OTLPTraceExporter()
trace.setGlobalTracerProvider(
  new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'connect' }),
    spanLimits: { eventCountLimit: 0 },
    spanProcessors: [withoutSecrets, new BatchSpanProcessor({ exporter, scheduledDelayMillis: 1000 })],
  }),
)
const { MIDDLEWARE, ROUTER } = ExpressLayerType
new HttpInstrumentation({ ignoreIncomingRequestHook: ({ url }) => /^\/(health|metrics)\b/.test(url) })
new ExpressInstrumentation({ ignoreLayersType: [MIDDLEWARE, ROUTER] })
new UndiciInstrumentation()
