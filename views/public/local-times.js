// Shows every <time datetime> in the reader's time zone, and the exact time in UTC on hover; recent ones as "2 minutes
// ago" if they have data-relative. A date without a time of day is the same in every time zone. Without this script, pages
// show times in UTC.
const MINUTE = 60_000
const REFRESH_MS = 20_000
const { lang } = document.documentElement
const relative = new Intl.RelativeTimeFormat(lang, { numeric: 'auto' })
const format = (timeStyle) => new Intl.DateTimeFormat(lang, { dateStyle: 'medium', timeStyle })
const formats = { short: format('short'), medium: format('medium') }

function textOf(element, date) {
  const minutes = Math.floor((Date.now() - date) / MINUTE)
  if ('relative' in element.dataset && minutes >= 0 && minutes < 60)
    return minutes === 0 ? relative.format(0, 'second') : relative.format(-minutes, 'minute')
  return formats[element.dataset.timeStyle ?? 'short'].format(date)
}

function show() {
  for (const element of document.querySelectorAll('time[datetime*=T]:not([data-countdown])')) {
    const date = new Date(element.dateTime)
    if (Number.isNaN(date.getTime())) continue
    element.title = date.toISOString()
    element.textContent = textOf(element, date)
  }
}

show()
setInterval(show, REFRESH_MS)
document.addEventListener('live-update', show)
