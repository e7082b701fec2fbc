import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import express, { type Request, Router } from 'express'
import type { Logger } from 'pino'
import { AppError } from '../../connect/app-error.ts'
import { BUILDER_REQUESTED, webhookEventSchema } from './contract.ts'
import type { Pending } from './pending.ts'
import type { Events } from './webhook-events.ts'

export interface WebhookOptions {
  /** Each verifies; without any, no webhook is received. */
  secrets: readonly string[]
  /** The header that carries the signature. */
  header: string
  events: Events
  pending: Pick<Pending, 'fetchSoon' | 'fetchRecentSoon'>
  /** The users who have a connection in a bxcontext. */
  usersOf(bxcontext: string): Promise<string[]>
  log: Logger
}

/** A rejected delivery; `code` is returned to the sender. */
export class WebhookError extends AppError {
  readonly status: number
  readonly code:
    | 'webhook_disabled'
    | 'invalid_signature'
    | 'unsupported_media_type'
    | 'invalid_event'
    | 'stale_event'
  constructor(status: number, code: WebhookError['code'], message: string) {
    super(message, { title: TITLES[code] })
    this.status = status
    this.code = code
  }
}

const TITLES: Record<WebhookError['code'], string> = {
  webhook_disabled: 'Webhook not configured',
  invalid_signature: 'Invalid signature',
  unsupported_media_type: 'Unsupported media type',
  invalid_event: 'Invalid event payload',
  stale_event: 'Event too old',
}

const MAX_BODY = 256 * 1024
/** How far a signed time may be from ours, in ms: a recorded delivery is not accepted later. */
const MAX_AGE_MS = 300_000

/**
 * `POST /webhooks/platform` (specification 6): the signature is checked over the raw body, in constant time, before
 * anything is parsed; an event is stored once by its id; 2xx at once, and then the list of builder requests is
 * fetched. Unknown events are stored and shown as such.
 */
export function webhookRoutes(options: WebhookOptions): Router {
  const { secrets, header, events, pending, usersOf, log } = options
  const raw = express.raw({ type: () => true, limit: MAX_BODY, inflate: false })

  return Router().post(
    '/webhooks/platform',
    (req, _res, next) => {
      // The platform is not a browser: errors are JSON.
      req.headers.accept = 'application/problem+json'
      if (secrets.length === 0) {
        throw new WebhookError(
          404,
          'webhook_disabled',
          'PLATFORM_WEBHOOK_SECRET is not set, so no webhook is received.',
        )
      }
      if (!req.is('application/json'))
        throw new WebhookError(415, 'unsupported_media_type', 'The webhook accepts application/json.')
      next()
    },
    raw,
    async (req, res) => {
      const body: Buffer = Buffer.isBuffer(req.body) ? req.body : Buffer.alloc(0)
      if (!signed(req, body)) {
        const message = `The signature in ${header} is missing or does not match the body.`
        throw new WebhookError(401, 'invalid_signature', message)
      }
      const event = webhookEventSchema.safeParse(parse(body))
      if (!event.success) {
        const [issue] = event.error.issues
        const where = issue?.path.join('.') || 'the body'
        throw new WebhookError(400, 'invalid_event', `${where}: ${issue?.message}.`)
      }
      const { data, occurredAt } = event.data
      if (Math.abs(Date.now() - timeOf(occurredAt)) > MAX_AGE_MS) {
        const message = 'occurredAt is more than 5 minutes away from the time of this server.'
        throw new WebhookError(400, 'stale_event', message)
      }
      // An event without an id is identified by its body.
      const id = event.data.id ?? createHash('sha256').update(body).digest('hex')
      const type = event.data.type ?? 'unknown'
      const fresh = await events.add({ ...event.data, id, type })
      res.status(fresh ? 202 : 200).json({ received: id, fresh })
      log.info({ type, fresh }, 'webhook')
      if (fresh && (type === BUILDER_REQUESTED || !event.data.type)) await fetchFor(data?.bxcontext ?? null)
    },
  )

  function signed(req: Request, body: Buffer): boolean {
    const given = Buffer.from(/^(?:sha256=)?([\da-f]{64})$/i.exec(req.get(header) ?? '')?.[1] ?? '', 'hex')
    // Every secret is tried, so that the time taken does not reveal which one matches.
    const matches = secrets.map((secret) => {
      const expected = createHmac('sha256', secret).update(body).digest()
      return given.length === expected.length && timingSafeEqual(given, expected)
    })
    return matches.includes(true)
  }

  /** Fetches the builder requests of the connections that the event may be about, so that open pages see them. */
  async function fetchFor(bxcontext: string | null): Promise<void> {
    if (bxcontext === null) return pending.fetchRecentSoon()
    // The event has been answered; if the store is unreachable, the page fetches the list.
    const users = await usersOf(bxcontext).catch(() => [])
    for (const userId of users) pending.fetchSoon({ userId, bxcontext })
  }
}

/** ms since 1970 of an ISO 8601 time, or of seconds or milliseconds since 1970; NaN when it is neither. */
function timeOf(value: string | number | null | undefined): number {
  const number = typeof value === 'string' && /^\d+(\.\d+)?$/.test(value) ? Number(value) : value
  if (typeof number !== 'number') return Date.parse(number ?? '')
  return number < 100_000_000_000 ? number * 1000 : number
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}
