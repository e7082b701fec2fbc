import { texts } from './texts.ts'

const { language } = texts

/** Formats for templates and texts, in the language of `texts.ts`. */
export const format = {
  /** Formats an ISO 8601 time as "21 Nov 2026, 7:15 am UTC"; invalid dates are returned unchanged. */
  time: (value: string) => formatDate(value, { dateStyle: 'medium', timeStyle: 'short' }, ' UTC'),
  date: (value: string) => formatDate(value, { dateStyle: 'medium' }),
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
  /** `1, 2 and 3`. */
  list: (items: readonly string[]) => new Intl.ListFormat(language).format(items),
  /** Formats a share as a change: 0.5 as `+50%`. */
  percent: (share: number) =>
    share.toLocaleString(language, { style: 'percent', signDisplay: 'exceptZero', maximumFractionDigits: 0 }),
  /** Formats seconds: `75 seconds`, `2 minutes`. */
  duration(seconds: number): string {
    const inUnit = (value: number, unit: string) =>
      Math.round(value).toLocaleString(language, { style: 'unit', unit, unitDisplay: 'long' })
    if (seconds < 90) return inUnit(seconds, 'second')
    return seconds < 5400 ? inUnit(seconds / 60, 'minute') : inUnit(seconds / 3600, 'hour')
  },
  capital: (text: string) => text.charAt(0).toUpperCase() + text.slice(1),
}

function formatDate(value: string, style: Intl.DateTimeFormatOptions, suffix = ''): string {
  const date = new Date(value)
  return Number.isNaN(date.getTime())
    ? value
    : date.toLocaleString(language, { ...style, timeZone: 'UTC' }) + suffix
}
