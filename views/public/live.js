// Refetches #live when a server-sent event reports a change, and shows #live-hint, which says so. Without this script,
// pages use a meta refresh.
const liveElement = () => document.querySelector('#live[data-live]')

async function refresh() {
  const response = await fetch(location.href, { headers: { accept: 'text/html', 'x-live-update': '1' } })
  if (!response.ok) return
  const page = new DOMParser().parseFromString(await response.text(), 'text/html')
  const next = page.querySelector('#live')
  const current = document.querySelector('#live')
  if (!next || !current || next.isEqualNode(current)) return
  // Restore keyboard focus by the text of the focused element.
  const focused = current.contains(document.activeElement) ? document.activeElement.textContent : null
  current.replaceWith(next)
  if (focused)
    [...next.querySelectorAll('a, button')].find((element) => element.textContent === focused)?.focus()
}

function follow() {
  const url = liveElement()?.dataset.live
  if (!url) return
  const events = new EventSource(url)
  document.querySelector('#live-hint')?.removeAttribute('hidden')
  let refreshing = Promise.resolve()
  const changed = () => {
    refreshing = refreshing.then(refresh, refresh)
  }
  events.addEventListener('changed', changed)
  events.addEventListener('done', () => {
    events.close()
    changed()
    refreshing.then(follow)
  })
  // The browser reconnects automatically, but events may have been missed.
  events.addEventListener('error', () => setTimeout(changed, 2500))
}

follow()
