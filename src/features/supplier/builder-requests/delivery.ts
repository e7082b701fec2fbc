/** Reads a delivery of the webhook: checks its signature, and parses its event. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { parseJson } from '../../../connect/index.ts'
import { type WebhookEvent, webhookEventSchema } from './contract.ts'
import { BuilderRequestError } from './errors.ts'

/** Maximum size of an event, in bytes, both compressed and decompressed. */
export const MAX_BODY = 256 * 1024

/** Whether the signature matches the body and one of the secrets. */
export function isSigned(body: Buffer, given: string | undefined, secrets: readonly string[]): boolean {
  const signature = Buffer.from(/^(?:sha256=)?([\da-f]{64})$/i.exec(given ?? '')?.[1] ?? '', 'hex')
  // Try every secret, so that the timing doesn't reveal which one matches.
  const matches = secrets.map((secret) => {
    const expected = createHmac('sha256', secret).update(body).digest()
    return signature.length === expected.length && timingSafeEqual(signature, expected)
  })
  return matches.includes(true)
}

/** Returns the event in a body, which may be `gzip`. Throws `BuilderRequestError` (`invalid_event`), which names the field. */
export function readEvent(body: Buffer, encoding: string | undefined): WebhookEvent {
  const json = encoding === 'gzip' ? unzip(body) : body
  const event = webhookEventSchema.safeParse(parseJson(json.toString('utf8')))
  if (event.success) return event.data
  const [issue] = event.error.issues
  const where = issue?.path.join('.') || 'the body'
  throw new BuilderRequestError('invalid_event', `${where}: ${issue?.message}.`)
}

function unzip(body: Buffer): Buffer {
  try {
    return gunzipSync(body, { maxOutputLength: MAX_BODY })
  } catch {
    throw new BuilderRequestError('invalid_event', 'the body: must be gzip of at most 256 kB.')
  }
}
