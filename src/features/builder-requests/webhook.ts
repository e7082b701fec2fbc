import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import express, { type Request, type RequestHandler, Router } from 'express'
import type { Logger } from 'pino'
import * as z from 'zod'
import { AppError } from '../../connect/errors.ts'
import { describeRoute } from '../../connect/express.ts'
import { parseJson } from '../../connect/index.ts'
import { timeOf, webhookEventSchema } from './contract.ts'
import type { Events } from './webhook-events.ts'

export interface WebhookOptions {
  /** A signature may match any of them; if empty, the webhook is disabled. */
  secrets: readonly string[]
  /** The header that carries the signature. */
  header: string
  events: Events
  log: Logger
}

const WEBHOOK_ERRORS = {
  webhook_disabled: { status: 404, title: 'Webhook not configured' },
  invalid_signature: { status: 401, title: 'Invalid signature' },
  unsupported_media_type: { status: 415, title: 'Unsupported media type' },
  invalid_event: { status: 400, title: 'Invalid event payload' },
  stale_event: { status: 400, title: 'Event too old' },
}

/** A rejected delivery; `code` is returned to the sender. */
class WebhookError extends AppError {
  readonly code: keyof typeof WEBHOOK_ERRORS
  readonly status: number
  readonly title: string
  constructor(code: keyof typeof WEBHOOK_ERRORS, message: string) {
    super(message)
    this.code = code
    this.status = WEBHOOK_ERRORS[code].status
    this.title = WEBHOOK_ERRORS[code].title
  }
}

/** Maximum size of an event, in bytes. */
const MAX_BODY = 256 * 1024
/** Maximum difference between `occurredAt` and the current time, in ms, to prevent replays. */
const MAX_AGE_MS = 300_000

/**
 * `POST /webhooks/platform` (specification 6), where it is mounted. Verifies the signature of the raw body in constant time before parsing
 * it, and stores each event id once. Nothing is fetched: open pages notice the stored event, and ask with their own tokens.
 */
export function webhookRoutes(options: WebhookOptions): Router {
  return Router().post(
    '/',
    describeRoute({
      isPublic: true,
      summary: 'Receives events of the platform. It checks a signature in place of a session.',
      body: webhookEventSchema,
      bodyType: 'application/json',
      status: 202,
      response: z.object({ received: z.string(), fresh: z.boolean() }),
      errors: Object.keys(WEBHOOK_ERRORS),
    }),
    acceptsEvents(options),
    express.raw({ type: () => true, limit: MAX_BODY, inflate: false }),
    receiveEvent(options),
  )
}

/** Refuses what cannot be an event, before its body is read. */
function acceptsEvents({ secrets }: WebhookOptions): RequestHandler {
  return (req, _res, next) => {
    // The caller is a server: always return errors as JSON.
    req.headers.accept = 'application/problem+json'
    if (secrets.length === 0)
      throw new WebhookError(
        'webhook_disabled',
        'The webhook is disabled: PLATFORM_WEBHOOK_SECRET is not set.',
      )
    if (!req.is('application/json'))
      throw new WebhookError('unsupported_media_type', 'The webhook accepts only application/json.')
    next()
  }
}

function receiveEvent(options: WebhookOptions): RequestHandler {
  const { header, events, log } = options
  return async (req, res) => {
    const body: Buffer = Buffer.isBuffer(req.body) ? req.body : Buffer.alloc(0)
    if (!isSigned(options, req, body)) {
      const message = `The signature in ${header} is missing or does not match the body.`
      throw new WebhookError('invalid_signature', message)
    }
    const { data, ...event } = parseEvent(body)
    // An event without an id is identified by its body.
    const id = event.id ?? createHash('sha256').update(body).digest('hex')
    const type = event.type ?? 'unknown'
    const fresh = await events.add({ ...event, data, id, type })
    res.status(fresh ? 202 : 200).json({ received: id, fresh })
    log.info({ type, fresh }, 'webhook')
  }
}

function isSigned({ header, secrets }: WebhookOptions, req: Request, body: Buffer): boolean {
  const given = Buffer.from(/^(?:sha256=)?([\da-f]{64})$/i.exec(req.get(header) ?? '')?.[1] ?? '', 'hex')
  // Try every secret, so that the timing doesn't reveal which one matches.
  const matches = secrets.map((secret) => {
    const expected = createHmac('sha256', secret).update(body).digest()
    return given.length === expected.length && timingSafeEqual(given, expected)
  })
  return matches.includes(true)
}

/** Throws `WebhookError` (`invalid_event`, `stale_event`). */
function parseEvent(body: Buffer): z.infer<typeof webhookEventSchema> {
  const event = webhookEventSchema.safeParse(parseJson(body.toString('utf8')))
  if (!event.success) {
    const [issue] = event.error.issues
    const where = issue?.path.join('.') || 'the body'
    throw new WebhookError('invalid_event', `${where}: ${issue?.message}.`)
  }
  const { occurredAt } = event.data
  if (occurredAt != null && Math.abs(Date.now() - timeOf(occurredAt)) > MAX_AGE_MS) {
    const message = 'occurredAt differs from the server time by more than 5 minutes.'
    throw new WebhookError('stale_event', message)
  }
  return event.data
}
