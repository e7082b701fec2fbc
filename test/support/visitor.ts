import { request } from 'undici'

/** A small browser without a screen: cookies for each host, redirects one by one, forms posted as a page would. */
export interface Answer {
  url: string
  status: number
  headers: Headers
  /** The body with plain apostrophes, and without the `<bdi>` around names and the markup for translators. */
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of many shapes
  json(): any
}

export interface VisitOptions {
  form?: Record<string, string | string[]>
  /** A body to send instead of a form. Put its type into `headers`. */
  text?: string | Uint8Array<ArrayBuffer>
  accept?: string
  headers?: Record<string, string>
}

export interface Visitor {
  get(url: string, options?: VisitOptions): Promise<Answer>
  post(url: string, options?: VisitOptions): Promise<Answer>
  /** Follows redirects, and pages that continue automatically, to the last page or to a URL that starts with `stopAt`. */
  follow(answer: Answer, stopAt?: string): Promise<Answer>
  cookies: Map<string, Map<string, string>>
}

/** The address to which an answer sends a browser without the user's help: by a redirect, or by an immediate refresh. */
export function leadsTo({ status, headers, text }: Answer): string | null {
  if (status >= 300 && status < 400) return headers.get('location')
  const [, url] = /<meta http-equiv="refresh" content="0; url=([^"]+)">/.exec(text) ?? []
  return url?.replaceAll('&amp;', '&') ?? null
}

interface Sent {
  method: 'GET' | 'POST'
  headers: Record<string, string>
  body?: string | Uint8Array<ArrayBuffer>
  redirect: 'manual'
}
type Reach = (url: string, sent: Sent) => Promise<Pick<Response, 'status' | 'headers' | 'text'>>

/** Works like `fetch`, which needs three times the CPU time. */
const reachDirectly: Reach = async (url, { redirect: _, ...sent }) => {
  const { statusCode: status, headers: received, body } = await request(url, sent)
  const headers = new Headers()
  for (const [name, value = []] of Object.entries(received))
    for (const one of [value].flat()) headers.append(name, one)
  return { status, headers, text: () => body.text() }
}

/** `reach`: the function that sends a request and returns the answer, such as `fetch`. */
export function createVisitor(reach: Reach = reachDirectly): Visitor {
  const cookies: Visitor['cookies'] = new Map()

  async function send(
    method: Sent['method'],
    url: string,
    { form, text: given, accept = 'text/html', headers = {} }: VisitOptions = {},
  ) {
    const { host } = new URL(url)
    const jar = cookies.get(host) ?? new Map<string, string>()
    cookies.set(host, jar)
    const body = new URLSearchParams()
    for (const [name, value] of Object.entries(form ?? {}))
      for (const one of [value].flat()) body.append(name, one)
    const answer = await reach(url, {
      method,
      redirect: 'manual',
      headers: {
        accept,
        cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; '),
        ...(method === 'POST' && { 'content-type': 'application/x-www-form-urlencoded' }),
        ...headers,
      },
      ...(method === 'POST' && { body: given ?? body.toString() }),
    })
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (/expires=Thu, 01 Jan 1970/i.test(line)) jar.delete(name)
      else jar.set(name, value)
    }
    const html = (await answer.text()).replaceAll(/<\/?bdi[^>]*>| translate="no"/g, '')
    const text = html.replaceAll('&#39;', "'")
    return { url, status: answer.status, headers: answer.headers, text, json: () => JSON.parse(text) }
  }

  const get: Visitor['get'] = (url, options) => send('GET', url, options)
  return {
    cookies,
    get,
    post: (url, options) => send('POST', url, options),
    async follow(answer, stopAt) {
      let last: Answer = answer
      for (let hops = 0; hops < 15; hops++) {
        const location = leadsTo(last)
        if (location === null) return last
        const next = new URL(location, last.url).href
        if (stopAt && next.startsWith(stopAt)) return { ...last, url: next }
        last = await get(next)
      }
      throw new Error('too many redirects')
    },
  }
}
