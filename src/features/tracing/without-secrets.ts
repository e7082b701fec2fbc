import type { Attributes } from '@opentelemetry/api'
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace'

/**
 * Attributes that do not leave the process: queries may have a code or a state, paths a bxcontext (`http.route` has the
 * pattern), messages of errors anything; and the addresses of users.
 */
const REMOVED = new Set([
  'url.query',
  'url.path',
  'http.target',
  'exception.message',
  'exception.stacktrace',
  'client.address',
  'network.peer.address',
  'network.peer.port',
])
/** Attributes of which the origin is left. */
const ADDRESSES = new Set(['url.full', 'http.url'])

/** Wraps an exporter so that spans have no secrets and no personal data. `onExported`: called with the error of each export. */
export function withoutSecrets(
  exporter: SpanExporter,
  onExported: (error: Error | undefined) => void,
): SpanExporter {
  return {
    export(spans, onResult) {
      exporter.export(spans.map(redactSpan), (result) => {
        onExported(result.code === 0 ? undefined : (result.error ?? new Error('not exported')))
        onResult(result)
      })
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  }
}

function redactSpan(span: ReadableSpan): ReadableSpan {
  const events = span.events.map((event) => ({ ...event, attributes: redactAttributes(event.attributes) }))
  // Other members are getters of the prototype, which a copy would not have.
  return Object.create(span, {
    attributes: { value: redactAttributes(span.attributes) },
    events: { value: events },
    status: { value: { code: span.status.code } },
  })
}

function redactAttributes(attributes: Attributes = {}): Attributes {
  const left = Object.entries(attributes).filter(([name]) => !REMOVED.has(name))
  return Object.fromEntries(
    left.map(([name, value]) => [name, ADDRESSES.has(name) ? URL.parse(String(value))?.origin : value]),
  )
}
