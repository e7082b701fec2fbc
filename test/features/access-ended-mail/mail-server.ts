import type { AddressInfo } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

export interface ReceivedMail {
  /** The recipients of the envelope. */
  to: string[]
  /** The headers and the content, as they were sent. `text`: the same with unfolded lines and decoded characters. */
  raw: string
  text: string
}

const decoded = (raw: string) =>
  Buffer.from(
    raw
      .replace(/=\r\n/g, '')
      .replace(/\r\n[ \t]+/g, ' ')
      .replace(/=([\dA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString('utf8')

/** The sender that tests set. */
export const SENDER = 'no-reply@connect.example'

/** A real mail server. `refusals`: its answers to the next emails. It accepts all later emails. */
export async function startMailServer(port = 0, options: SMTPServerOptions = {}) {
  const mails: ReceivedMail[] = []
  const refusals: { responseCode: number; isAfterContent?: boolean }[] = []
  /** The content of each email that it refused after it had received it. */
  const refused: string[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onRcptTo(_address, _session, callback) {
      const [next] = refusals
      if (!next || next.isAfterContent) return callback()
      refusals.shift()
      callback(Object.assign(new Error('Not today, ann@demo.example'), next))
    },
    async onData(stream, session, callback) {
      const chunks = await stream.toArray().catch(() => null)
      // The sender was killed before it had sent the whole email.
      if (!chunks) return
      const raw = Buffer.concat(chunks).toString('latin1')
      const next = refusals.shift()
      if (next) {
        refused.push(raw)
        return callback(Object.assign(new Error('Not today, ann@demo.example'), next))
      }
      const to = session.envelope.rcptTo.map(({ address }) => address)
      mails.push({ to, raw, text: decoded(raw) })
      callback()
    },
    ...options,
  })
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const { port: opened } = server.server.address() as AddressInfo
  return {
    mails,
    refusals,
    refused,
    port: opened,
    env: { MAIL_URL: `smtp://127.0.0.1:${opened}`, MAIL_FROM: 'no-reply@connect.example' },
    close: () => new Promise<void>((resolve) => server.close(resolve)),
  }
}
export type MailServer = Awaited<ReturnType<typeof startMailServer>>

/** A header of an email, unfolded. */
export const header = (mail: ReceivedMail | undefined, name: string) =>
  new RegExp(`^${name}: (.*)$`, 'im').exec(mail?.text.split('\r\n\r\n')[0] ?? '')?.[1]

/** The address of the link in an email. */
export const linkOf = (mail: ReceivedMail | undefined) => /https?:\/\/\S+/.exec(mail?.text ?? '')?.[0] ?? ''
