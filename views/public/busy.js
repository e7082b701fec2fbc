// A button that posts is busy at once, and its form is sent once. Without this script, forms work as usual.
const PATIENCE_MS = 60_000

document.addEventListener('submit', (event) => {
  const { target: form, submitter } = event
  if (event.defaultPrevented || form.method !== 'post') return
  if (form.querySelector('[aria-busy]')) return event.preventDefault()
  if (!submitter) return
  submitter.setAttribute('aria-busy', 'true')
  submitter.append('…')
  // The browser has given up, or the user has.
  setTimeout(reset, PATIENCE_MS)
})

// A page that comes back from the browser's cache is as it was before it was left.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) reset()
})

function reset() {
  for (const button of document.querySelectorAll('button[aria-busy]')) {
    button.removeAttribute('aria-busy')
    button.lastChild.remove()
  }
}
