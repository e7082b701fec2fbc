import { createTransport } from 'nodemailer'
import type { Http } from '../../connect/index.ts'
import { WebError } from '../../web/kit.ts'
import type { Mail } from './mail.ts'
import { type AccessEndedMailSettings, IN_SANDBOX } from './settings.ts'

/** Where mails come from and how they are sent. */
export type MailSettings = NonNullable<AccessEndedMailSettings>

/** A mail with where it goes. Its id is the same each time that it is sent. */
export interface AddressedMail extends Mail {
  from: { name: string; address: string }
  to: string
  messageId: string
}

export interface Transport {
  /** Throws an `AppError`, of the status 503 if it may help to repeat it. Its reason contains no address. */
  send(mail: AddressedMail): Promise<void>
  close(): void
}

/** A few connections to the mail server, which are opened when something is sent. */
export const openServer = ({ url, isTlsRequired }: MailSettings) =>
  createTransport({
    pool: true,
    url,
    requireTLS: isTlsRequired,
    // What fails is repeated by whoever sends it.
    maxRequeues: 0,
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 30_000,
    disableFileAccess: true,
    disableUrlAccess: true,
  })

/**
 * What failed: the code of nodemailer, and the status of the server's answer (RFC 5321, section 4.2), but not its text, which may
 * repeat the address. `isFinal`: the server does not want it again.
 */
export function failureOf(error: unknown): { reason: string; isFinal: boolean } {
  const { code, responseCode }: { code?: unknown; responseCode?: unknown } = Object(error)
  const reason = [code, responseCode].filter((part) => part !== undefined).join(' ')
  return { reason: reason || 'unknown', isFinal: typeof responseCode === 'number' && responseCode >= 500 }
}

const mailFailed = (reason: string, isFinal: boolean) =>
  new WebError(isFinal ? 500 : 503, 'internal_error', undefined, { reason })

/** Sends by SMTP, or in the demo to the sandbox. */
export function createMailTransport(
  settings: MailSettings,
  { http, sandboxUrl }: { http: Http; sandboxUrl: string | undefined },
): Transport {
  if (settings.url === IN_SANDBOX)
    return { send: (mail) => sendToSandbox(http, sandboxUrl, mail), close() {} }
  const server = openServer(settings)
  return {
    async send(mail) {
      // An answer by hand is for people, and one of a machine could be answered again (RFC 3834, section 5).
      const headers = { 'Auto-Submitted': 'auto-generated' }
      await server
        .sendMail({ ...mail, to: { name: '', address: mail.to }, headers })
        .catch((error: unknown) => {
          const { reason, isFinal } = failureOf(error)
          throw mailFailed(reason, isFinal)
        })
    },
    close: () => server.close(),
  }
}

async function sendToSandbox(http: Http, sandboxUrl: string | undefined, mail: AddressedMail): Promise<void> {
  if (sandboxUrl === undefined) throw mailFailed('MAIL_URL is sandbox, and SANDBOX_URL is not set', true)
  const { status } = await http.send({
    method: 'POST',
    url: `${sandboxUrl}/mails`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(mail),
  })
  if (status !== 204) throw mailFailed(`the sandbox answered ${status}`, false)
}
