import { SpanStatusCode, type Tracer, trace } from '@opentelemetry/api'
import {
  type ConnectionEvent,
  connectionChannel,
  type RefreshLockEvent,
  refreshLockChannel,
  subscribe,
} from '../../connect/index.ts'

/** Adds to traces what the core publishes: waiting for the refresh lock, and what happens to a connection. */
export function traceCore(tracer: Tracer): () => void {
  const unsubscribes = [
    subscribe(refreshLockChannel, ({ outcome, reason, at, ms }: RefreshLockEvent) => {
      const span = tracer.startSpan(`refresh lock ${outcome}`, {
        startTime: at,
        attributes: { 'connect.lock.outcome': outcome, ...(reason && { 'connect.lock.reason': reason }) },
      })
      span.end(at + ms)
    }),
    subscribe(connectionChannel, ({ type, reason, at }: ConnectionEvent) => {
      const span = trace.getActiveSpan()
      span?.addEvent(`connection ${type}`, reason ? { reason } : {}, at)
      if (type === 'refreshFailed') span?.setStatus({ code: SpanStatusCode.ERROR })
    }),
  ]
  return () => {
    for (const unsubscribe of unsubscribes) unsubscribe()
  }
}
