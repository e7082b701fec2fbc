import { request } from 'node:http'
import { serve } from './ports.ts'

const DOMAIN = 'forwarded.invalid'
/** The public host of a request, which `fetch` would not send as `Host`. */
const PUBLIC_HOST = 'public-host'

/**
 * A GitHub Codespace with private ports. Its proxy passes requests of the owner's browser on to this machine, and adds and changes
 * headers. No program on this machine can reach the public addresses.
 */
export async function openCodespace() {
  const proxy = await serve((req, res) => {
    const { [PUBLIC_HOST]: publicHost, ...sent } = req.headers
    const [, port = ''] = /^box-(\d+)\./.exec(String(publicHost)) ?? []
    const headers = {
      ...sent,
      host: `localhost:${port}`,
      ...(req.method === 'POST' && { origin: `https://localhost:${port}` }),
      'x-forwarded-host': publicHost,
      'x-forwarded-proto': 'https',
      'x-forwarded-for': '203.0.113.9',
    }
    const options = { host: 'localhost', port, path: req.url, method: req.method, headers }
    const forwarded = request(options, (answer) => {
      res.writeHead(answer.statusCode ?? 0, answer.headers)
      answer.pipe(res)
    })
    forwarded.once('error', () => res.destroy())
    req.pipe(forwarded)
  })
  return {
    env: { CODESPACE_NAME: 'box', GITHUB_CODESPACES_PORT_FORWARDING_DOMAIN: DOMAIN },
    /** The public address of a port. */
    urlOf: (port = '') => `https://box-${port}.${DOMAIN}`,
    /** The `fetch` of the owner's browser. */
    fetch: (url: string, options: RequestInit) => {
      const { host, pathname, search } = new URL(url)
      const headers = { ...options.headers, [PUBLIC_HOST]: host }
      return fetch(`http://127.0.0.1:${proxy.port}${pathname}${search}`, { ...options, headers })
    },
    close: proxy.close,
  }
}
