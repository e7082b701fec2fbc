// Refetches #live when a server-sent event reports a change, then dispatches `live-update` on the document, and shows
// #live-hint, which says so. Without this script, pages that must update use a meta refresh.
const liveElement = () => document.querySelector('#live[data-live]')
let events = null
let refreshing = Promise.resolve()
/** Whether a refresh waits for the one that is running. */
let isWaiting = false

async function refresh() {
  const response = await fetch(location.href, { headers: { accept: 'text/html', 'x-live-update': '1' } })
  // Signed out, or disconnected, perhaps in another tab.
  if ([401, 404, 409].includes(response.status)) return location.reload()
  if (!response.ok) return
  const page = new DOMParser().parseFromString(await response.text(), 'text/html')
  // A notice about work in the background arrives with an update, once.
  document.querySelector('#notices')?.append(...page.querySelectorAll('#notices > :not(#news)'))
  const next = page.querySelector('#live')
  const current = document.querySelector('#live')
  if (!next || !current || next.isEqualNode(current)) return
  for (const { id } of current.querySelectorAll('details[open][id]')) {
    const details = next.querySelector(`#${CSS.escape(id)}`)
    if (details) details.open = true
  }
  // What the reader is typing stays.
  for (const { id, value, defaultValue } of current.querySelectorAll('input[id]')) {
    const input = next.querySelector(`#${CSS.escape(id)}`)
    if (input && value !== defaultValue) input.value = value
  }
  const focused = current.contains(document.activeElement) ? document.activeElement : null
  const anchor = [...current.querySelectorAll('[id]')].find(
    (element) => element.getBoundingClientRect().top >= 0,
  )
  const top = anchor?.getBoundingClientRect().top
  announce(current, next)
  current.replaceWith(next)
  document.title = page.title
  // What the reader looks at stays where it is.
  const moved = anchor && next.querySelector(`#${CSS.escape(anchor.id)}`)
  if (moved && scrollY > 0) scrollBy(0, moved.getBoundingClientRect().top - top)
  if (focused) counterpart(next, focused)?.focus()
  document.dispatchEvent(new Event('live-update'))
}

/** Reads out what is new. #news stays: of a live region that is replaced, nothing is read. */
function announce(current, next) {
  const announced = (element) =>
    [...element.querySelectorAll('[data-announce]')].map(({ dataset }) => dataset.announce)
  const before = announced(current)
  const news = announced(next).filter((text) => {
    const index = before.indexOf(text)
    if (index >= 0) before.splice(index, 1)
    return index < 0
  })
  if (news.length > 0) document.querySelector('#news').textContent = news.join('. ')
}

/** The element with the same id, or with the same text inside the one with the same id: several cards may have the same buttons. */
function counterpart(next, focused) {
  const { id } = focused.closest('[id]')
  const place = id === next.id ? next : next.querySelector(`#${CSS.escape(id)}`)
  if (id === focused.id) return place
  const elements = [...(place?.querySelectorAll('a, button, summary') ?? [])]
  return elements.find(({ textContent }) => textContent === focused.textContent)
}

function changed() {
  // It will show every change until it begins.
  if (isWaiting) return
  isWaiting = true
  const next = () => {
    isWaiting = false
    return refresh()
  }
  refreshing = refreshing.then(next, next)
}

function follow() {
  const url = liveElement()?.dataset.live
  if (!url || document.hidden) return
  events?.close()
  events = new EventSource(url)
  document.querySelector('#live-hint')?.removeAttribute('hidden')
  events.addEventListener('changed', changed)
  events.addEventListener('done', () => {
    events.close()
    changed()
    // After a pause: a page that cannot be fetched says "done" again at once.
    const followLater = () => setTimeout(follow, 1_000)
    refreshing.then(followLater, followLater)
  })
  // Something may have changed since the page was sent, or while the browser reconnected.
  events.addEventListener('open', changed)
}

// A browser opens only six connections to an HTTP/1.1 server; hidden tabs would use them up.
document.addEventListener('visibilitychange', () => {
  events?.close()
  if (!document.hidden && liveElement()) follow()
})

follow()
