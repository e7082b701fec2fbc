/**
 * Starts tracing. `main.ts` imports this file before everything else if `OTEL_EXPORTER_OTLP_ENDPOINT` is set: the
 * instrumentations have to be there when Express and the Redis client are loaded.
 */
import { register } from 'node:module'
import { setTimeout } from 'node:timers/promises'
import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { registerInstrumentations } from '@opentelemetry/instrumentation'
import { ExpressInstrumentation, ExpressLayerType } from '@opentelemetry/instrumentation-express'
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http'
import { RedisInstrumentation } from '@opentelemetry/instrumentation-redis'
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici'
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { traceCore } from './core-spans.ts'
import { running } from './running.ts'
import { withoutSecrets } from './without-secrets.ts'

/** How long the app waits for the collector when it stops, in ms. */
const STOP_MS = 2_000

register('@opentelemetry/instrumentation/hook.mjs', import.meta.url)

const provider = new TracerProvider({
  resource: resourceFromAttributes({ 'service.name': 'connect-starter' }).merge(
    detectResources({ detectors: [envDetector] }),
  ),
  spanProcessors: [
    new BatchSpanProcessor({ exporter: withoutSecrets(new OTLPTraceExporter(), logOutage()) }),
  ],
})
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
trace.setGlobalTracerProvider(provider)
/** Health checks and scrapes come every few seconds, and add no information. */
const UNTRACED = /\/(health\/(live|ready)|metrics)$/

// Without a propagator, no trace id is sent to the platform, and none that a browser sends is used.
registerInstrumentations({
  tracerProvider: provider,
  instrumentations: [
    new HttpInstrumentation({
      ignoreIncomingRequestHook: ({ url = '' }) => UNTRACED.test(url.split('?')[0] ?? ''),
    }),
    new UndiciInstrumentation({
      requestHook(span, { method, origin, path }) {
        const template = running.templateOf?.(new URL(path, origin))
        if (template === undefined) return
        span.updateName(`${method} ${template}`)
        span.setAttribute('url.template', template)
      },
    }),
    new ExpressInstrumentation({ ignoreLayersType: [ExpressLayerType.MIDDLEWARE, ExpressLayerType.ROUTER] }),
    // Without arguments, and only what belongs to a request.
    new RedisInstrumentation({ dbStatementSerializer: (command) => command, requireParentSpan: true }),
  ],
})
const stopTracingCore = traceCore(provider.getTracer('connect-starter'))

/** Logs once when spans cannot be sent, and once when they can again. */
function logOutage(): (error: Error | undefined) => void {
  let isOut = false
  return (error) => {
    if (error && !isOut)
      running.log?.warn({ code: 'traces_lost', reason: error.name }, 'the collector accepts no traces')
    if (!error && isOut) running.log?.info('the collector accepts traces again')
    isOut = error !== undefined
  }
}

running.stop = async () => {
  stopTracingCore()
  // Sends the spans that are not sent yet, if the collector answers.
  await Promise.race([provider.shutdown(), setTimeout(STOP_MS, undefined, { ref: false })])
}
