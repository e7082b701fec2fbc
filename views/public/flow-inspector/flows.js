// Keyboard navigation between steps, the presenter view, and the bar of a token's lifetime. Without this script, the links
// do the same.
const link = (rel) => document.querySelector(`a[rel="${rel}"]`)
const presentation = () => document.querySelector('[data-present]')

function isTyping() {
  return document.activeElement?.matches('input, textarea, select')
}

/** Replaces the presented step without leaving the page, which would end full screen. */
async function present(url) {
  const response = await fetch(url, { headers: { accept: 'text/html' } }).catch(() => null)
  const page = response?.ok ? new DOMParser().parseFromString(await response.text(), 'text/html') : null
  const next = page?.querySelector('[data-present]')
  if (!next) return location.assign(url)
  const notes = presentation().querySelector('.notes')
  next.querySelector('.notes').open = notes.open
  presentation().replaceWith(next)
  document.title = page.title
  history.replaceState(null, '', url)
  next.querySelector('h1').focus()
  offerFullScreen()
}

function go(rel) {
  const target = link(rel)
  if (!target) return
  if (presentation()) present(target.href)
  else target.click()
}

function toggleFullScreen() {
  if (document.fullscreenElement) document.exitFullscreen()
  else document.documentElement.requestFullscreen()
}

function offerFullScreen() {
  const button = document.querySelector('[data-fullscreen]')
  if (!button || !document.fullscreenEnabled) return
  button.hidden = false
  button.addEventListener('click', toggleFullScreen)
}

document.addEventListener('keydown', (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || isTyping()) return
  // A focused diagram scrolls with these keys.
  if (document.activeElement?.matches('.scroll')) return
  if (event.key === 'ArrowRight') go('next')
  else if (event.key === 'ArrowLeft') go('prev')
  if (!presentation()) return
  if (event.key === 'PageDown' || event.key === ' ') go('next')
  else if (event.key === 'PageUp') go('prev')
  else if (event.key.toLowerCase() === 'f') toggleFullScreen()
  else return
  event.preventDefault()
})
document.addEventListener('click', (event) => {
  const target = event.target.closest?.('a[rel="next"], a[rel="prev"]')
  if (!target || !presentation() || event.ctrlKey || event.metaKey) return
  event.preventDefault()
  present(target.href)
})
offerFullScreen()

// A scenario takes seconds.
for (const form of document.querySelectorAll('.scenarios form')) {
  form.addEventListener('submit', () => {
    const button = form.querySelector('button')
    button.disabled = true
    button.textContent = 'Running …'
  })
}

/** The bar of an access token's lifetime runs. */
const lifetime = document.querySelector('progress.lifetime')
if (lifetime) setInterval(() => (lifetime.value = Date.now() - Number(lifetime.dataset.from)), 1000)
