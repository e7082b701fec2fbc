import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { CONNECTION_STATES, type Connect, type LastError } from '../../connect/index.ts'
import { type FeatureDeps, onRequest } from '../../web/feature-api.ts'
import { readRound } from '../connection-checks/round.ts'
import { loadContracts } from '../contracts.ts'
import { pathTemplates } from './path-template.ts'

/** Histogram bounds in seconds, from a cached page to a token endpoint that takes half a minute. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** The values of a gauge at this moment; none if they are not known. */
interface Reading {
  name: string
  help: string
  values: { labels: Readonly<Record<string, string>>; value: number }[]
}

/**
 * Collects the metrics of this process: subscribes to the events of the core and the web part, and reads gauges. No label contains a
 * user id, a bxcontext, or an id of a record on the platform.
 */
export async function createMetrics(deps: FeatureDeps) {
  const { config, connect } = deps
  const register = new Registry()
  collectDefaultMetrics({ register })
  const paths = (await loadContracts()).flatMap((contract) => contract.paths)
  const unsubscribes = [
    countRequests(register),
    countConnectionEvents(register, connect),
    measurePlatform(register, connect, pathTemplates(config.platform.apiUrl, paths)),
  ]
  return {
    contentType: register.contentType,
    /** The metrics in the text format of Prometheus. */
    async text(): Promise<string> {
      for (const { name, help, values } of await readGauges(deps)) {
        register.removeSingleMetric(name)
        if (!values[0]) continue
        const labelNames = Object.keys(values[0].labels)
        const gauge = new Gauge({ name, help, labelNames, registers: [register] })
        for (const { labels, value } of values) gauge.set(labels, value)
      }
      return register.metrics()
    },
    close() {
      for (const unsubscribe of unsubscribes) unsubscribe()
      register.clear()
    },
  }
}

function countRequests(register: Registry): () => void {
  const durations = new Histogram({
    name: 'connect_http_request_duration_seconds',
    help: 'How long requests to this app took.',
    labelNames: ['method', 'route', 'status'],
    buckets: BUCKETS,
    registers: [register],
  })
  return onRequest(({ method, route, status, ms }) =>
    durations.observe({ method: KNOWN_METHODS.has(method) ? method : 'other', route, status }, ms / 1000),
  )
}
/** Other methods are counted as `other`, because anyone can send a request with a made-up method. */
const KNOWN_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

function countConnectionEvents(register: Registry, { vault }: Connect): () => void {
  const events = new Counter({
    name: 'connect_connection_events_total',
    help: 'What happened to connections. reason: why a refresh failed.',
    labelNames: ['type', 'reason'],
    registers: [register],
  })
  // Alerts compute rates, which need a first value before the first event.
  for (const type of ['connected', 'refreshed', 'recovered', 'revoked', 'disconnected'])
    events.inc({ type, reason: '' }, 0)
  for (const reason of ['no_answer', 'error', 'busy', 'unreadable', 'refused'] satisfies LastError[])
    events.inc({ type: 'refreshFailed', reason }, 0)
  return vault.onChange((_ref, changes) => {
    for (const change of changes)
      events.inc({ type: change.type, reason: change.type === 'refreshFailed' ? change.lastError : '' })
  })
}

function measurePlatform(
  register: Registry,
  { platform, onPlatformRequest }: Connect,
  templateOf: (url: URL) => string | undefined,
): () => void {
  const durations = new Histogram({
    name: 'connect_platform_request_duration_seconds',
    help: 'How long the platform took to answer. status: none if there was no complete answer.',
    labelNames: ['endpoint', 'status'],
    buckets: BUCKETS,
    registers: [register],
  })
  return onPlatformRequest(({ purpose, request: { method, url }, response, ms }) => {
    const address = new URL(url)
    const isToken = address.pathname.endsWith(platform.tokenPath)
    const call = `${method} ${templateOf(address) ?? '(other)'}`
    const endpoint = purpose === 'api' ? call : isToken ? 'token endpoint' : 'revocation endpoint'
    durations.observe({ endpoint, status: response?.status ?? 'none' }, ms / 1000)
  })
}

/** Reads the gauges. While the store is unavailable, only `connect_store_up` has a value. */
async function readGauges({ store, connect }: FeatureDeps): Promise<Reading[]> {
  const valuesOf = (value: boolean | undefined) =>
    value === undefined ? [] : [{ labels: {}, value: Number(value) }]
  const [isUp, round, areRefused] = await Promise.all([
    store.ping().then(
      () => true,
      () => false,
    ),
    readRound(store).catch(() => null),
    connect.vault.credentials.areRefused().catch(() => undefined),
  ])
  // The connections that the last complete round found. Before the first round, they are not known.
  const counts = round?.last
  return [
    { name: 'connect_store_up', help: '1 if the store takes writes.', values: valuesOf(isUp) },
    {
      name: 'connect_credentials_refused',
      help: '1 if the platform refuses this app: its client id or its secret.',
      values: valuesOf(areRefused),
    },
    {
      name: 'connect_connections',
      help: 'Connections by status, as the last check of all connections found them.',
      values: Object.values(CONNECTION_STATES).flatMap((status) =>
        counts ? [{ labels: { status }, value: counts[status] }] : [],
      ),
    },
  ]
}
