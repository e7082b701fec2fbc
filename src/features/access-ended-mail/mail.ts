import { format, webTexts } from '../../web/feature-api.ts'
import { texts } from './texts.ts'

const MAX_NAME = 60

/** Whether a text can be an email address: a single recipient, without characters that are special in a header (RFC 5322). */
export const isAddress = (text: string): boolean =>
  text.length <= 254 && /^[^\s\p{Cc}@"<>()[\]\\,;:]{1,64}@[^\s\p{Cc}@"<>()[\]\\,;:]+$/u.test(text)

/**
 * Makes a name that other people typed safe on one line: it can't begin a header or change the direction of the text around it, and
 * contains no dots, slashes or similar characters inside words, which mail programs would turn into links.
 */
function inline(name: string): string {
  const words = format
    .undirected(name.toWellFormed().normalize('NFKC'))
    .replace(/[:/\\@]|[.。](?=\S)/g, ' ')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
  return [...words].slice(0, MAX_NAME).join('')
}

const timeOf = (at: number) =>
  `${new Date(at).toLocaleString(webTexts.language, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })} UTC`

/** The contents of an email, as plain text and as HTML. */
export type Mail = Record<'subject' | 'text' | 'html', string>

/**
 * The email to a user whose access to a connection has ended. `at`: when it ended, in ms since 1970. `link`: where the user
 * reconnects it. The link gives no access to others who read it.
 */
export function mailAbout({ name, at, link }: { name: string; at: number; link: string }): Mail {
  const shown = inline(name)
  const before = [texts.lead(shown), webTexts.summary.ended(timeOf(at))]
  const html = (text: string) => `<p>${format.sentence(text)}</p>`
  const anchor = `<p><a href="${format.sentence(link)}">${format.sentence(texts.reconnect(shown))}</a></p>`
  return {
    subject: texts.subject,
    text: [...before, `${texts.reconnect(shown)}:\n${link}`, texts.intended].join('\n\n'),
    html: [...before.map(html), anchor, html(texts.intended)].join('\n'),
  }
}
