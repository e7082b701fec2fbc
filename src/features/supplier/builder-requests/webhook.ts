import { createHash } from 'node:crypto'
import { type RequestHandler, Router } from 'express'
import type { Logger } from 'pino'
import { isSigned, MAX_BODY, readEvent } from './delivery.ts'
import { BuilderRequestError } from './errors.ts'
import { rawBody } from './raw-body.ts'
import type { BuilderRequestsSettings } from './settings.ts'
import type { Events } from './webhook-events.ts'

/**
 * The route of `POST /webhooks/platform` (specification 6). Verifies the signature of the raw body in constant time,
 * before it parses the body, and stores each event id once. It makes no calls: open pages notice the stored event, and ask the
 * platform with the tokens of their connections.
 */
export function webhookRoutes(settings: BuilderRequestsSettings, events: Events, log: Logger): Router {
  return Router().post('/', acceptsEvents(settings), rawBody(MAX_BODY), receiveEvent(settings, events, log))
}

/** Rejects requests that cannot be events before reading their body. */
function acceptsEvents({ webhookSecrets }: BuilderRequestsSettings): RequestHandler {
  return (req, _res, next) => {
    // The caller is a server: always return errors as JSON.
    req.headers.accept = 'application/problem+json'
    if (webhookSecrets.length === 0)
      throw new BuilderRequestError(
        'webhook_disabled',
        'The webhook is disabled: PLATFORM_WEBHOOK_SECRET is not set.',
      )
    const isJson = req.is(['application/json', 'application/cloudevents+json'])
    if (!isJson || !['identity', 'gzip'].includes(req.get('content-encoding') ?? 'identity'))
      throw new BuilderRequestError(
        'unsupported_media_type',
        'The webhook accepts only application/json and application/cloudevents+json, plain or as gzip.',
      )
    next()
  }
}

function receiveEvent(
  { webhookSecrets, webhookHeader: header }: BuilderRequestsSettings,
  events: Events,
  log: Logger,
): RequestHandler {
  return async (req, res) => {
    if (!isSigned(req.body, req.get(header), webhookSecrets)) {
      const message = `The signature in ${header} is missing or does not match the body.`
      throw new BuilderRequestError('invalid_signature', message)
    }
    const event = readEvent(req.body, req.get('content-encoding'))
    // An event without an id is identified by its body.
    const id = event.id ?? createHash('sha256').update(req.body).digest('hex')
    const fresh = await events.add({ ...event, id })
    res.status(fresh ? 202 : 200).json({ received: id, fresh })
    log.info({ type: event.type ?? 'unknown', fresh }, 'webhook')
  }
}
