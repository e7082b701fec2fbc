// Shows the remaining time in every <time data-countdown> as its data-left says, and then its data-expired. Without this script,
// pages show the time itself.
const SECOND = 1000
const IN = 'in {time}'
const EXPIRED = 'expired; refreshed automatically on next use'

function show() {
  for (const element of document.querySelectorAll('time[data-countdown]')) {
    const left = Math.round((Date.parse(element.dateTime) - Date.now()) / SECOND)
    element.title = element.dateTime
    const { left: text = IN, expired = EXPIRED } = element.dataset
    element.textContent = left > 0 ? text.replace('{time}', formatSeconds(left)) : expired
  }
}

function formatSeconds(seconds) {
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  return h > 0 ? `${h} h ${m} min` : m > 0 ? `${m} min ${s} s` : `${s} s`
}

show()
setInterval(show, SECOND)
document.addEventListener('live-update', show)
