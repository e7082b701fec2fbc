// A button that posts is busy at once, and its form is not sent again while it is busy. A link, or a form that only asks, is busy if
// it takes longer than 100 ms; another link can be used in this time. Without this script, forms and links work as usual.
const SLOW_MS = 100
/** How long an element is busy at most, in ms. */
const PATIENCE_MS = 60_000
/** The same for a form with a file. */
const UPLOAD_MS = 900_000
/** The elements that are busy, with the timers that end this state. By then, the browser has given up, or the user has. */
const busy = new Map()
/** The link or button that was used last to go elsewhere, and its timer. */
let left = { element: null, timer: 0 }

document.addEventListener('submit', (event) => {
  const { target: form, submitter } = event
  if (event.defaultPrevented) return
  if (form.method !== 'post') return busyWhenSlow(submitter)
  if (form.querySelector('[aria-busy]')) return event.preventDefault()
  if (submitter) setBusy(submitter, form.enctype === 'multipart/form-data' ? UPLOAD_MS : PATIENCE_MS)
})

document.addEventListener('click', (event) => {
  const link = event.target.closest('a[href]')
  const isOther = event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey
  if (!link || isOther || event.defaultPrevented || link.target || link.hasAttribute('download')) return
  // An email is written in another program.
  if (link.protocol === 'mailto:') return
  // A place on this page.
  if (link.hash && link.href.split('#')[0] === location.href.split('#')[0]) return
  busyWhenSlow(link)
})

// A page that comes back from the browser's cache is as it was before it was left.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) for (const element of busy.keys()) setIdle(element)
})

function busyWhenSlow(element) {
  clearTimeout(left.timer)
  setIdle(left.element)
  left = { element, timer: setTimeout(setBusy, SLOW_MS, element, PATIENCE_MS) }
}

function setBusy(element, ms) {
  if (!element || busy.has(element)) return
  element.setAttribute('aria-busy', 'true')
  element.append('…')
  const news = document.querySelector('#news')
  if (news) news.textContent = element.getAttribute('aria-label') ?? element.textContent
  busy.set(element, setTimeout(setIdle, ms, element))
}

function setIdle(element) {
  if (!busy.has(element)) return
  clearTimeout(busy.get(element))
  busy.delete(element)
  element.removeAttribute('aria-busy')
  element.lastChild.remove()
}
