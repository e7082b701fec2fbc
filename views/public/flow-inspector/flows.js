// Adds the keyboard navigation between steps, and the presenter view. Without it, the links still lead from step to step.
const link = (rel) => document.querySelector(`a[rel="${rel}"]`)
const presentation = () => document.querySelector('[data-present]')

function isTyping() {
  return document.activeElement?.matches('input, textarea, select')
}

/** Replaces the step that is shown without leaving the page, which would end full screen. */
async function show(url) {
  const response = await fetch(url, { headers: { accept: 'text/html' } }).catch(() => null)
  const page = response?.ok ? new DOMParser().parseFromString(await response.text(), 'text/html') : null
  const next = page?.querySelector('main')
  if (!next) return location.assign(url)
  document.querySelector('main').replaceWith(next)
  document.title = page.title
  history.replaceState(null, '', url)
}

async function present(url) {
  await show(url)
  presentation()?.querySelector('h1').focus()
  prepare()
}

/** Scrolls the diagram to the current arrow, and offers full screen. */
function prepare() {
  const diagram = presentation()?.querySelector('.diagram')
  const active = diagram?.querySelector('.sequence-step.active')
  if (active) {
    // Puts the arrow in the middle of the room below the headings of the lanes.
    const headings = diagram.querySelector('.sequence-lanes').offsetHeight
    const { top, height } = active.getBoundingClientRect()
    const room = diagram.clientHeight - headings - height
    diagram.scrollTop += top - diagram.getBoundingClientRect().top - headings - room / 2
  }
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
  // Space presses a focused button.
  if (event.key === ' ' && document.activeElement?.matches('button')) return
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
prepare()

// Lets people copy a command.
for (const button of document.querySelectorAll('[data-copy]')) {
  if (!navigator.clipboard) break
  button.hidden = false
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(button.closest('details').querySelector('code').textContent)
    button.textContent = 'Copied'
  })
}
