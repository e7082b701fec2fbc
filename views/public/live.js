// Keeps #live up to date: when the server says that the page has changed, its new version takes the place of the old
// one. Without this script the page reloads itself, or is reloaded by its reader.
const place = () => document.querySelector('#live[data-live]')

async function renew() {
  const answer = await fetch(location.href, { headers: { accept: 'text/html', 'x-live-update': '1' } })
  if (!answer.ok) return
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
  const next = page.querySelector('#live')
  const now = document.querySelector('#live')
  if (!next || !now || next.isEqualNode(now)) return
  // Whoever is about to press a button keeps it under the keyboard.
  const focused = now.contains(document.activeElement) ? document.activeElement.textContent : null
  now.replaceWith(next)
  if (focused) [...next.querySelectorAll('a, button')].find((one) => one.textContent === focused)?.focus()
}

function follow() {
  const from = place()?.dataset.live
  if (!from) return
  const events = new EventSource(from)
  let renewing = Promise.resolve()
  const changed = () => {
    renewing = renewing.then(renew, renew)
  }
  events.addEventListener('changed', changed)
  events.addEventListener('done', () => {
    events.close()
    changed()
    renewing.then(follow)
  })
  // The browser comes back by itself, and may have missed something.
  events.addEventListener('error', () => setTimeout(changed, 2500))
}

follow()
