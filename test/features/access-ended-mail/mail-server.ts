import type { AddressInfo } from 'node:net'
import addressParser from 'nodemailer/lib/addressparser'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

export interface ReceivedMail {
  /** The recipients of the envelope. */
  to: string[]
  /** The headers and the content, as they were sent. `text`: the same with unfolded lines and decoded characters. */
  raw: string
  text: string
}

const decoded = (raw: string) =>
  Buffer.from(raw.split('\r\n--').map(ofPart).join('\r\n--'), 'latin1').toString('utf8')

/** A text of many letters beyond ASCII is encoded as Base64, any other as quoted-printable (RFC 2045). */
function ofPart(part: string): string {
  const [head = '', text = ''] = part.split(/\r\n\r\n(.*)/s)
  return /^Content-Transfer-Encoding: base64/im.test(head)
    ? `${ofQuoted(head)}\r\n\r\n${Buffer.from(text, 'base64').toString('latin1')}`
    : ofQuoted(part.replace(/=\r\n/g, ''))
}

const ofQuoted = (text: string) =>
  text
    .replace(/\r\n[ \t]+/g, ' ')
    .replace(/=([\dA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))

/** The sender that tests set. */
export const SENDER = { name: 'Büro, "us" & O\'Brien', address: 'no-reply@connect.example' }

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

/** The first header of this name, as it was sent. */
const headerIn = (raw: string, name: string) =>
  new RegExp(`^${name}: (.*(?:\\r\\n[ \\t].*)*)`, 'im').exec(raw)?.[1] ?? ''

/** A header of an email, unfolded and decoded. */
export const header = (mail: ReceivedMail | undefined, name: string) =>
  ofWords(headerIn(mail?.raw ?? '', name).replaceAll(/\r\n(?=[ \t])/g, ''))

/** The sender of an email. The name may be quoted (RFC 5322) or encoded (RFC 2047). */
export function senderOf({ raw }: ReceivedMail): { name: string; address: string } | undefined {
  const [sender] = addressParser(headerIn(raw, 'From'), { flatten: true })
  return sender && { ...sender, name: ofWords(sender.name) }
}

/** Decodes the encoded words of a header (RFC 2047). */
function ofWords(text: string): string {
  const bytes = text
    .replaceAll(/\?=\s+=\?/g, '?==?')
    .replaceAll(/=\?UTF-8\?([QB])\?(.*?)\?=/g, (_, encoding: string, word: string) =>
      encoding === 'B' ? Buffer.from(word, 'base64').toString('latin1') : ofQuoted(word.replaceAll('_', ' ')),
    )
  return Buffer.from(bytes, 'latin1').toString('utf8')
}

/** The HTML of an email. */
export const htmlOf = ({ text }: ReceivedMail) => text.slice(text.indexOf('text/html'))

/** The address of the link in an email. */
export const linkOf = (mail: ReceivedMail | undefined) => /https?:\/\/\S+/.exec(mail?.text ?? '')?.[0] ?? ''
