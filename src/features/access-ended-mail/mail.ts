import { format, webTexts } from '../../web/kit.ts'

/** The texts of a mail. `name`: the name of the connection, without characters that change the direction of text. */
const texts = {
  subject: (name: string) => `Access to ${name} has ended`,
  lead: (name: string) => `${webTexts.layout.appName} can no longer use ${name}.`,
  reconnect: (name: string) => `Reconnect ${name}`,
  intended: 'If access was meant to end, there is nothing to do. This is the only mail about it.',
}

const MAX_NAME = 100

/** Whether a text can be the address of a mail: one recipient, without characters that have a meaning in a header (RFC 5322). */
export const isAddress = (text: string): boolean =>
  text.length <= 254 && /^[^\s\p{Cc}@"<>()[\]\\,;:]{1,64}@[^\s\p{Cc}@"<>()[\]\\,;:]+$/u.test(text)

/** A name on one line, so that it can neither begin a header nor change the direction of the text around it. */
const inline = (name: string) =>
  format
    .undirected(name)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, MAX_NAME)
    .toWellFormed()

const timeOf = (at: number) =>
  `${new Date(at).toLocaleString(webTexts.language, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })} UTC`

/** The contents of a mail, as plain text and as HTML. */
export type Mail = Record<'subject' | 'text' | 'html', string>

/**
 * The mail to a user whose access to a connection has ended. `at`: when it ended, in ms since 1970. `link`: where the user
 * reconnects it. The link grants nothing to others who read it.
 */
export function mailAbout({ name, at, link }: { name: string; at: number; link: string }): Mail {
  const shown = inline(name)
  const before = [texts.lead(shown), webTexts.summary.ended(timeOf(at))]
  const html = (text: string) => `<p>${format.sentence(text)}</p>`
  const anchor = `<p><a href="${format.sentence(link)}">${format.sentence(texts.reconnect(shown))}</a></p>`
  return {
    subject: texts.subject(shown),
    text: [...before, `${texts.reconnect(shown)}:\n${link}`, texts.intended].join('\n\n'),
    html: [...before.map(html), anchor, html(texts.intended)].join('\n'),
  }
}
