import { isolated, undirected } from '../bidi.ts'
import { texts } from '../texts.ts'

const { language } = texts

/** Formats for templates and texts, in the language of `texts.ts`. */
export const format = {
  time,
  bdi,
  isolated,
  undirected,
  /** A sentence as HTML. It formats ISO 8601 times like `time`, and puts each name that is `isolated` into a `<bdi>`. */
  sentence: (text: string, data: Record<string, string> = {}) =>
    escapeHtml(text)
      .replace(ISO_TIME, (value) => time(value, data))
      .replace(ISOLATED, (_, name: string) => isolate(name)),
  segment: encodeURIComponent,
  count: (value: number) => value.toLocaleString(language),
  /** `1 item`, `2,000 items`. */
  pluralize: (value: number, singular: string, plural = `${singular}s`) =>
    `${value.toLocaleString(language)} ${value === 1 ? singular : plural}`,
  money: (dollars: number) =>
    dollars.toLocaleString(language, {
      style: 'currency',
      currency: 'AUD',
      currencyDisplay: 'narrowSymbol',
      minimumFractionDigits: 2,
      maximumFractionDigits: 6,
    }),
  /** The attributes of a field with an error, which also gets the focus. The id of its error text is `ID-error`. */
  invalid: (form: { field: string | null } | undefined, field: string, id: string) =>
    form?.field === field ? ` aria-invalid="true" aria-describedby="${id}-error" autofocus` : '',
  capital: (text: string) => text.charAt(0).toUpperCase() + text.slice(1),
}

const ISO_TIME = /\d{4}-\d\d-\d\dT[\d:.]+Z/g
const ISOLATED = /\u2068([^\u2068\u2069]*)\u2069/g
/** A word that is longer than the words of our texts. */
const LONG_WORD = /\S{15}/
const ISO_DATE = /^\d{4}-\d\d-\d\d$/

/**
 * A time of ISO 8601 as a `<time>` element: "21 Nov 2026, 7:15 am UTC". The browser changes it to the reader's time zone
 * (`local-times.js`), unless it is a date without a time of day. The result is HTML, for `<%~ %>`. `data`: the data attributes of
 * the element. With the `time-style` `day`, the time of day is left out. Without a value, the result is "—". A text that is not a
 * time is only escaped.
 */
function time(value: string | null | undefined, data: Record<string, string> = {}): string {
  if (!value) return '—'
  const at = new Date(value)
  if (Number.isNaN(at.getTime())) return escapeHtml(value)
  const isDay = ISO_DATE.test(value)
  const hasClock = !isDay && data['time-style'] !== 'day'
  const text = at.toLocaleString(language, {
    dateStyle: 'medium',
    ...(hasClock ? { timeStyle: 'short' } : {}),
    timeZone: 'UTC',
  })
  const attributes = Object.entries(data).map(([name, content]) => `data-${name}="${escapeHtml(content)}" `)
  return `<time ${attributes.join('')}datetime="${isDay ? value : at.toISOString()}">${text}${hasClock ? ' UTC' : ''}</time>`
}

/**
 * A name, or other text that people typed, as HTML for `<%~ %>`. It doesn't change the direction of the text around it. Without a
 * value, the result is "—".
 */
function bdi(text: string | null | undefined): string {
  return text ? isolate(escapeHtml(undirected(text))) : '—'
}

/** The class `long` lets words break. It is only for texts with a word that may be longer than a line. */
const isolate = (html: string) =>
  `<bdi translate="no"${LONG_WORD.test(html) ? ' class="long"' : ''}>${html}</bdi>`

/** A text as HTML. */
export const escapeHtml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
