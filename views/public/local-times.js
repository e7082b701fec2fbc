// Shows every <time datetime> in the reader's time zone, and the exact time in UTC on hover. A recent time becomes "2 minutes ago", or in
// the first minute its data-relative, if it has one. A time with data-countdown becomes the time left, in the words of its data-left, and
// after that its data-expired. A date without a time of day is the same in every time zone. Without this script, pages show times in UTC.
const SECOND = 1_000
const MINUTE = 60_000
const IN = 'in {time}'
const EXPIRED = 'expired; refreshed automatically on next use'
const { lang } = document.documentElement
const relative = new Intl.RelativeTimeFormat(lang)
const format = (timeStyle) => new Intl.DateTimeFormat(lang, { dateStyle: 'medium', timeStyle })
const formats = { day: format(), short: format('short'), medium: format('medium') }

function textOf({ dataset }, date) {
  if ('countdown' in dataset) return countdown(dataset, Math.round((date - Date.now()) / SECOND))
  const minutes = Math.floor((Date.now() - date) / MINUTE)
  if ('relative' in dataset && minutes >= 0 && minutes < 60)
    return minutes === 0 ? dataset.relative : relative.format(-minutes, 'minute')
  return formats[dataset.timeStyle ?? 'short'].format(date)
}

const countdown = ({ left = IN, expired = EXPIRED }, seconds) =>
  seconds > 0 ? left.replace('{time}', formatSeconds(seconds)) : expired

function formatSeconds(seconds) {
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  return h > 0 ? `${h} h ${m} min` : m > 0 ? `${m} min ${s} s` : `${s} s`
}

function show() {
  for (const element of document.querySelectorAll('time[datetime*=T]')) {
    const date = new Date(element.dateTime)
    if (Number.isNaN(date.getTime())) continue
    element.title = date.toISOString()
    const text = textOf(element, date)
    if (element.textContent !== text) element.textContent = text
  }
}

show()
setInterval(show, SECOND)
document.addEventListener('live-update', show)
