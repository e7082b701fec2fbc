import { type InternalUrls, sentTo } from '../../../connect/index.ts'

/** A response as a browser receives it, with or without a page. */
export interface Page {
  url: string
  status: number
  text: string
  /** The absolute URL that the response leads to automatically, by a redirect or an immediate refresh. */
  location: string | null
}

type Form = Record<string, string | readonly string[]>

const MAX_REDIRECTS = 15
const TIMEOUT_MS = 15_000
const HTML = 'text/html'
export const JSON_TYPE = 'application/json'

/** A headless browser for scenarios: keeps cookies, follows redirects and refreshing pages, and sends forms. */
export class Browser {
  /** The cookies of the app and the sandbox, which have different names. */
  readonly #cookies = new Map<string, string>()
  readonly #internalUrls: InternalUrls

  constructor(internalUrls: InternalUrls) {
    this.#internalUrls = internalUrls
  }

  get(url: string, accept = HTML): Promise<Page> {
    return this.#send(url, accept, { method: 'GET' })
  }

  post(url: string, form: Form = {}, accept = HTML): Promise<Page> {
    const body = new URLSearchParams()
    for (const [name, values] of Object.entries(form))
      for (const value of [values].flat()) body.append(name, value)
    return this.#send(url, accept, { method: 'POST', body })
  }

  /** Follows redirects, but stops before the first address that starts with `stopAt`. */
  async follow(page: Page, stopAt?: string): Promise<Page> {
    let current = page
    for (let count = 0; count < MAX_REDIRECTS; count++) {
      const { location } = current
      if (location === null) return current
      if (stopAt !== undefined && location.startsWith(stopAt)) return { ...current, url: location }
      current = await this.get(location)
    }
    throw new Error('too many redirects')
  }

  async #send(url: string, accept: string, options: RequestInit): Promise<Page> {
    const cookie = [...this.#cookies].map((pair) => pair.join('=')).join('; ')
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const address = sentTo(url, this.#internalUrls)
    const headers = { accept, cookie }
    const response = await fetch(address, { ...options, redirect: 'manual', headers, signal })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      this.#cookies.set(name, value)
    }
    const text = await response.text()
    const location = response.headers.get('location') ?? refreshOf(text)
    return { url, status: response.status, text, location: location && new URL(location, url).href }
  }
}

/** The address that a page continues to automatically (`views/app/onward.eta`). */
function refreshOf(text: string): string | null {
  const [, url] = /<meta http-equiv="refresh" content="0; url=([^"]+)">/.exec(text) ?? []
  return url?.replaceAll('&amp;', '&') ?? null
}
