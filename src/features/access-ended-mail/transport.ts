import { createTransport } from 'nodemailer'
import type { Http } from '../../connect/index.ts'
import { WebError } from '../../web/feature-api.ts'
import type { Mail } from './mail.ts'
import { type AccessEndedMailSettings, IN_SANDBOX } from './settings.ts'

type MailSettings = NonNullable<AccessEndedMailSettings>

export interface Transport {
  /** Sends an email. `id` is the same in each attempt. Throws an `AppError`, with the status 503 if another attempt may succeed. */
  send(mail: Mail & { to: string; id: string }): Promise<void>
  close(): void
}

/** Up to five connections to the mail server, opened when the app sends an email. */
export const openServer = ({ url, isTlsRequired }: MailSettings) =>
  createTransport({
    pool: true,
    url,
    requireTLS: isTlsRequired,
    // The caller retries failed emails (mails.ts).
    maxRequeues: 0,
    connectionTimeout: 10_000,
    socketTimeout: 30_000,
  })

/** Whether a nodemailer error comes from the server's response, or is about the user name and password. */
export const hasAnswered = (error: unknown): boolean =>
  Object(error).code === 'EAUTH' || Object(error).responseCode !== undefined

/**
 * The `WebError` for a nodemailer error. Its reason explains a wrong password in words, or contains the error code and the response
 * status (RFC 5321, section 4.2). The response text stays out of the log, because it may repeat the address. A status of 500 or
 * more is final: retrying would be useless.
 */
export function mailError(error: unknown): WebError {
  const { code, originalCode = code, responseCode }: Record<string, unknown> = Object(error)
  const isFinal = typeof responseCode === 'number' && responseCode >= 500
  const parts = [originalCode, responseCode].filter((part) => part !== undefined)
  const reason =
    code === 'EAUTH'
      ? 'the mail server refuses the user or the password in MAIL_URL'
      : parts.join(' ') || 'unknown'
  return new WebError(isFinal ? 500 : 503, 'internal_error', undefined, { reason })
}

/** Sends by SMTP, or in the demo to the sandbox. */
export function createMailTransport(
  settings: MailSettings,
  { http, sandboxUrl }: { http: Http; sandboxUrl: string | undefined },
): Transport {
  const { url, from } = settings
  if (url === IN_SANDBOX)
    return { send: (mail) => sendToSandbox(http, sandboxUrl, { ...mail, from }), close() {} }
  const server = openServer(settings)
  return {
    async send({ id, to: address, ...mail }) {
      // Asks mail programs not to send automatic replies (RFC 3834, section 5).
      const headers = { 'Auto-Submitted': 'auto-generated' }
      const all = { ...mail, from, to: { name: '', address }, messageId: id, headers }
      await server.sendMail(all).catch((error: unknown) => Promise.reject(mailError(error)))
    },
    close: () => server.close(),
  }
}

async function sendToSandbox(http: Http, sandboxUrl: string | undefined, mail: object): Promise<void> {
  if (sandboxUrl === undefined) throw mailError({ code: 'SANDBOX_URL is not set' })
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify(mail)
  const { status } = await http.send({ method: 'POST', url: `${sandboxUrl}/mails`, headers, body })
  if (status !== 204) throw mailError({ code: 'POST /mails', responseCode: status })
}
