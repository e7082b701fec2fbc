// Asks the address in the data-live of #live again and again whether the page is up to date. If not, fetches the page again,
// replaces #live, and dispatches `live-update` on the document. Without this script, pages that must update use a meta refresh.
const EVERY_MS = 1_000
/** While a page stays the same, the pauses grow to this, so that hundreds of open pages cost the app little. */
const LONGEST_MS = 6_000
/** The pause after the page could not be fetched: the page may need a call to the platform, which may not answer. */
const RETRY_MS = 5_000
/** The version that the page shows; null: not known yet. */
let shown = null
let pauseMs = EVERY_MS

/** Resolves to whether the page could be fetched. */
async function refresh() {
  const response = await get(location.href)
  if (!response.ok) return false
  const page = new DOMParser().parseFromString(await response.text(), 'text/html')
  const next = page.querySelector('#live')
  const current = document.querySelector('#live')
  if (!next || !current || next.isEqualNode(current)) return true
  // A button that was pressed stays until its answer comes: a new button could be pressed again.
  if (current.querySelector('[aria-busy]')) return false
  for (const { id } of current.querySelectorAll('details[open][id]')) {
    const details = next.querySelector(`#${CSS.escape(id)}`)
    if (details) details.open = true
  }
  // Keeps the text and the choices that the reader has entered.
  for (const { id, value, defaultValue } of current.querySelectorAll('input[id], select[id]')) {
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
  // Keeps the part of the page that the reader is looking at in its place.
  const moved = anchor && next.querySelector(`#${CSS.escape(anchor.id)}`)
  if (moved && scrollY > 0) scrollBy(0, moved.getBoundingClientRect().top - top)
  if (focused) counterpart(next, focused)?.focus()
  document.dispatchEvent(new Event('live-update'))
  return true
}

/** Reads out what is new. `#news` is never replaced, because screen readers read nothing from a live region that is replaced. */
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

/**
 * Finds the same element by its id, or by the nearest id around it and by where it leads: several cards have the same buttons, and a
 * browser may have translated their texts.
 */
function counterpart(next, focused) {
  const { id } = focused.closest('[id]')
  const place = id === next.id ? next : next.querySelector(`#${CSS.escape(id)}`)
  if (id === focused.id) return place
  const target = ({ href, form }) => href ?? form?.action
  const elements = [...(place?.querySelectorAll(focused.localName) ?? [])]
  return elements.find((element) => target(element) === target(focused))
}

async function get(url) {
  const response = await fetch(url, { headers: { accept: 'text/html', 'x-live-update': '1' } })
  // The user has signed out or disconnected, perhaps in another tab. If it was in this tab, the next page is on its way, and a reload
  // at once would take its place.
  if ([401, 404, 409].includes(response.status)) setTimeout(() => location.reload(), EVERY_MS)
  return response
}

/** Fetches the page if its version has changed. The first version counts as changed, because the page may be older than it. */
async function update(url) {
  const response = await get(url)
  if (!response.ok) return
  const { version } = await response.json()
  pauseMs = version === shown ? Math.min(pauseMs * 1.5, LONGEST_MS) : EVERY_MS
  if (version === shown) return
  if (await refresh()) shown = version
  else await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
}

async function follow() {
  const url = document.querySelector('#live[data-live]')?.dataset.live
  // The page does not change any more.
  if (!url) return
  // A page that the reader comes back to asks within a second.
  if (document.hidden) pauseMs = EVERY_MS
  // The server may be away for a moment.
  else await update(url).catch(() => {})
  setTimeout(follow, pauseMs)
}

if (document.querySelector('#live[data-live]'))
  document.querySelector('#live-hint')?.removeAttribute('hidden')
follow()
