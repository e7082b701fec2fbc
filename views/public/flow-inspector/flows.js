// Keyboard navigation between steps, and the presenter view's full screen. Without this script, the links do the same.
const link = (rel) => document.querySelector(`a[rel="${rel}"]`)

function isTyping() {
  return document.activeElement?.matches('input, textarea, select')
}

/** Replaces the presented step without leaving the page, which would end full screen. */
async function present(url) {
  const response = await fetch(url, { headers: { accept: 'text/html' } })
  if (!response.ok) return location.assign(url)
  const page = new DOMParser().parseFromString(await response.text(), 'text/html')
  document.querySelector('[data-present]').replaceWith(page.querySelector('[data-present]'))
  document.title = page.title
  history.replaceState(null, '', url)
  offerFullScreen()
}

function go(rel) {
  const target = link(rel)
  if (!target) return
  if (document.querySelector('[data-present]')) present(target.href)
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
  if (event.key === 'ArrowRight' || event.key === 'PageDown') go('next')
  else if (event.key === 'ArrowLeft' || event.key === 'PageUp') go('prev')
  else if (event.key === 'f' && document.querySelector('[data-present]')) toggleFullScreen()
})
offerFullScreen()

/** The bar of an access token's lifetime runs. */
const lifetime = document.querySelector('progress.lifetime')
if (lifetime) setInterval(() => (lifetime.value = Date.now() - Number(lifetime.dataset.from)), 1000)
