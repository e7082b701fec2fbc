// A button that posts is busy at once, and its form is sent once. A link, or a form that only asks, is busy when it takes longer
// than a second; another can be used meanwhile. Without this script, forms and links work as usual.
const PATIENCE_MS = 60_000
const SLOW_MS = 1_000
let slow

document.addEventListener('submit', (event) => {
  const { target: form, submitter } = event
  if (event.defaultPrevented) return
  if (form.method !== 'post') return busyWhenSlow(submitter)
  if (form.querySelector('[aria-busy]')) return event.preventDefault()
  if (!submitter) return
  markBusy(submitter)
})

document.addEventListener('click', (event) => {
  const link = event.target.closest('a[href]')
  const isOther = event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey
  if (!link || isOther || event.defaultPrevented || link.target || link.hasAttribute('download')) return
  // A place on this page.
  if (link.hash && link.href.split('#')[0] === location.href.split('#')[0]) return
  busyWhenSlow(link)
})

// A page that comes back from the browser's cache is as it was before it was left.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) reset()
})

function busyWhenSlow(element) {
  reset()
  if (element) slow = setTimeout(markBusy, SLOW_MS, element)
}

function markBusy(element) {
  element.setAttribute('aria-busy', 'true')
  element.append('…')
  // The browser has given up, or the user has.
  setTimeout(reset, PATIENCE_MS)
}

function reset() {
  clearTimeout(slow)
  for (const element of document.querySelectorAll(':is(a, button)[aria-busy]')) {
    element.removeAttribute('aria-busy')
    element.lastChild.remove()
  }
}
