/** A browser without a screen, for scenarios: it keeps cookies, follows redirects and refreshing pages, and sends forms. */
export interface Page {
  url: string
  status: number
  text: string
  /** Where the response leads by itself, by a redirect or an immediate refresh, as an absolute URL. */
  location: string | null
}

export interface Browser {
  get(url: string, accept?: string): Promise<Page>
  post(url: string, form?: Record<string, string | readonly string[]>, accept?: string): Promise<Page>
  /** Follows redirects, up to the first address that starts with `stopAt`, which is not opened. */
  follow(page: Page, stopAt?: string): Promise<Page>
}

const MAX_REDIRECTS = 15
const TIMEOUT_MS = 15_000
const HTML = 'text/html'
export const JSON_TYPE = 'application/json'

/** Creates a browser without cookies. */
export function createBrowser(): Browser {
  /** Cookies by host. */
  const jars = new Map<string, Map<string, string>>()

  async function send(
    method: 'GET' | 'POST',
    url: string,
    accept: string,
    body?: URLSearchParams,
  ): Promise<Page> {
    const { host } = new URL(url)
    const jar = jars.get(host) ?? new Map<string, string>()
    jars.set(host, jar)
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      headers: { accept, cookie },
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body && { body }),
    })
    for (const line of response.headers.getSetCookie()) keepCookie(jar, line)
    const text = await response.text()
    const location = response.headers.get('location') ?? refreshOf(text)
    return {
      url,
      status: response.status,
      text,
      location: location && new URL(location, url).href,
    }
  }

  const browser: Browser = {
    get: (url, accept = HTML) => send('GET', url, accept),
    post: (url, form = {}, accept = HTML) => send('POST', url, accept, toBody(form)),
    async follow(page, stopAt) {
      let current = page
      for (let count = 0; count < MAX_REDIRECTS; count++) {
        if (current.location === null) return current
        if (stopAt !== undefined && current.location.startsWith(stopAt))
          return { ...current, url: current.location }
        current = await browser.get(current.location)
      }
      throw new Error('too many redirects')
    },
  }
  return browser
}

/** Where a page goes on to by itself (`views/app/onward.eta`). */
function refreshOf(text: string): string | null {
  const [, url] = /<meta http-equiv="refresh" content="0; url=([^"]+)">/.exec(text) ?? []
  return url?.replaceAll('&amp;', '&') ?? null
}

function keepCookie(jar: Map<string, string>, line: string): void {
  const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
  if (/expires=Thu, 01 Jan 1970/i.test(line)) jar.delete(name)
  else jar.set(name, value)
}

function toBody(form: Record<string, string | readonly string[]>): URLSearchParams {
  const body = new URLSearchParams()
  for (const [name, values] of Object.entries(form))
    for (const value of [values].flat()) body.append(name, value)
  return body
}
