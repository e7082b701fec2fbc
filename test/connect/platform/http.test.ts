import dns from 'node:dns'
import type { IncomingHttpHeaders, RequestListener } from 'node:http'
import { createSecureServer } from 'node:http2'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { deflateSync, gzipSync } from 'node:zlib'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import {
  createHttp,
  createHttpPools,
  type HttpOptions,
  type HttpPools,
  type HttpRequest,
  platform,
} from '../../../src/connect/index.ts'
import { isWebPage } from '../../../src/connect/platform/http.ts'
import { CERTIFICATES, TEST_CA } from '../../support/certificates.ts'
import { serve } from '../../support/ports.ts'
import { startSlowAddress } from '../../support/slow-address.ts'

let pools: HttpPools
afterEach(() => pools?.close())

const UNAVAILABLE = { code: 'platform_unavailable' }
const GZIP = { 'content-encoding': 'gzip' }

/** A server for one test. */
async function started(handler: RequestListener) {
  const { server, port, close } = await serve(handler)
  onTestFinished(close)
  return { server, port, url: `http://127.0.0.1:${port}` }
}
/** A client for one test, which waits for as long as a busy machine needs. */
function client(options: HttpOptions = {}) {
  const http = createHttp({ stepTimeoutMs: 60_000, deadlineMs: 60_000, ...options })
  onTestFinished(http.close)
  return {
    http,
    get: (url: string, more: Partial<HttpRequest> = {}) => http.send({ method: 'GET', url, ...more }),
  }
}

test.each(['tokens', 'api'] as const)('calls of the pool %s go through the proxy', async (pool) => {
  const asked: string[] = []
  const proxy = await started((req, res) => {
    asked.push(`${req.method} ${req.url}`)
    res.end('from the proxy')
  })
  pools = createHttpPools(platform, {
    proxies: { httpsProxy: undefined, httpProxy: proxy.url, noProxy: 'direct.example' },
  })
  const { text } = await pools[pool].send({
    method: 'POST',
    url: 'http://platform.example/a?b=c',
    body: 'x',
  })
  expect(text).toBe('from the proxy')
  expect(asked).toEqual(['POST http://platform.example/a?b=c'])
  await expect(pools[pool].send({ method: 'GET', url: 'http://direct.example/' })).rejects.toThrow()
  expect(asked).toHaveLength(1)
})

test.each(['http', 'https'])('a forward proxy that wants a password is named: %s', async (scheme) => {
  const proxy = await started((_req, res) => void res.writeHead(407).end())
  proxy.server.on('connect', (_req, socket) => socket.end('HTTP/1.1 407 Who are you\r\n\r\n'))
  const { get } = client({ proxies: { httpsProxy: proxy.url, httpProxy: proxy.url, noProxy: '' } })
  await expect(get(`${scheme}://platform.example/`)).rejects.toMatchObject({
    ...UNAVAILABLE,
    reason: 'the forward proxy answered 407: it needs a user and a password in its URL',
  })
})

test('requests go to the internal address of their origin, whatever their path, and to no other', async () => {
  const hosts: (string | undefined)[] = []
  const { port, url: internal } = await started((req, res) => {
    hosts.push(req.headers.host)
    res.end(req.url)
  })
  pools = createHttpPools(platform, { internalUrls: { 'https://platform.invalid': internal } })
  const send = (url: string) => pools.api.send({ method: 'GET', url, headers: { authorization: 'Bearer t' } })
  for (const path of ['/a?b=c', '//elsewhere.invalid/', '/@elsewhere.invalid'])
    expect((await send(`https://PLATFORM.invalid:443${path}`)).text).toBe(path)
  expect(new Set(hosts)).toEqual(new Set([`127.0.0.1:${port}`]))
  for (const other of ['http://platform.invalid', 'https://platform.invalid:8443', 'https://other.invalid'])
    await expect(send(other)).rejects.toMatchObject(UNAVAILABLE)
})

test('a proxy that does not answer one CONNECT delays the requests of that time only', async () => {
  const sockets: Socket[] = []
  const proxy = createServer((socket) => {
    sockets.push(socket)
    const isFirst = sockets.length === 1
    socket.on('data', () => isFirst || socket.end('HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n'))
  })
  const url = await new Promise<string>((resolve) =>
    proxy.listen(0, () => resolve(`http://127.0.0.1:${(proxy.address() as { port: number }).port}`)),
  )
  const proxies = { httpsProxy: url, httpProxy: url, noProxy: '' }
  const { http, get } = client({ connectTimeoutMs: 300, proxies })
  for (let time = 0; time < 2; time++)
    await expect(get('https://platform.example/')).rejects.toMatchObject(UNAVAILABLE)
  expect(sockets.length).toBeGreaterThan(1)
  await http.close()
  for (const socket of sockets) socket.destroy()
  proxy.close()
})

test('a host whose first address needs a second and whose other one is dead is reached, by each pool and through a proxy', async () => {
  const slow = await startSlowAddress()
  const [good, dead] = ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 }))
  let lookups = 0
  vi.spyOn(dns, 'lookup').mockImplementation(((
    _name: string,
    _options: object,
    done: (...result: unknown[]) => void,
  ) => {
    done(null, [good, dead])
    // Each of them has sent its first packet by then.
    if (++lookups === 3) setImmediate(slow.wake)
  }) as typeof dns.lookup)
  const url = `http://two.example:${slow.port}`
  pools = createHttpPools(platform)
  const proxied = createHttp({ proxies: { httpsProxy: undefined, httpProxy: url, noProxy: '' } })
  const answers = await Promise.all([
    ...[pools.tokens, pools.api].map((pool) => pool.send({ method: 'GET', url })),
    proxied.send({ method: 'GET', url: 'http://platform.example/' }),
  ])
  expect(answers.map(({ text }) => text)).toEqual(Array(3).fill('from the slow address'))
  await proxied.close()
  await slow.close()
})

test('a server that offers HTTP/2 is spoken to in HTTP/1.1, by each pool and through a proxy', async () => {
  const usual = getCACertificates('default')
  setDefaultCACertificates([...usual, TEST_CA])
  onTestFinished(() => setDefaultCACertificates(usual))
  const server = createSecureServer({ ...CERTIFICATES.valid, allowHTTP1: true }, (req, res) => {
    res.end(req.httpVersion)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const proxy = await serve()
  proxy.server.on('connect', (_req, socket: Socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    socket.pipe(connect(port, '127.0.0.1')).pipe(socket)
  })
  const httpsProxy = `http://127.0.0.1:${proxy.port}`
  pools = createHttpPools(platform)
  const proxied = createHttp({ proxies: { httpsProxy, httpProxy: undefined, noProxy: '' } })
  const answers = [pools.tokens, pools.api, proxied].map((pool) =>
    pool.send({ method: 'GET', url: `https://localhost:${port}/` }),
  )
  expect((await Promise.all(answers)).map(({ text }) => text)).toEqual(Array(3).fill('1.1'))
  await Promise.all([proxied.close(), pools.close()])
  server.close()
  await proxy.close()
})

test('requests whose deadline passed while they waited for a connection leave it to the others', async () => {
  const held: (() => void)[] = []
  const { server, url } = await started((req, res) => {
    if (req.url === '/held') held.push(() => res.end())
    else res.end('answer')
  })
  let connections = 0
  server.on('connection', () => connections++)
  const { get } = client({ connections: 1 })
  const first = get(`${url}/held`)
  await expect.poll(() => held.length).toBe(1)
  const waiting = Array.from({ length: 5 }, () => get(`${url}/late`, { deadlineMs: 20 }))
  for (const late of waiting) await expect(late).rejects.toMatchObject(UNAVAILABLE)
  held[0]?.()
  await first
  expect((await get(`${url}/next`)).text).toBe('answer')
  expect(connections).toBe(1)
})

test('a request for tokens waits for longer than a call of the API', async () => {
  const held: (() => void)[] = []
  const { url } = await started((_req, res) => void held.push(() => res.end('answer')))
  pools = createHttpPools(platform, { apiTimeoutMs: 50 })
  const answer = pools.tokens.send({ method: 'POST', url })
  await expect(pools.api.send({ method: 'GET', url })).rejects.toMatchObject(UNAVAILABLE)
  for (const release of held) release()
  expect((await answer).text).toBe('answer')
})

test.each([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
])('an answer that is compressed although nobody asked for it is read (%s)', async (encoding, compress) => {
  const asked: IncomingHttpHeaders[] = []
  const { url } = await started((req, res) => {
    asked.push(req.headers)
    res.writeHead(200, { 'content-encoding': encoding }).end(compress('{"a":1}'))
  })
  const { get } = client({ userAgent: 'Acme Link' })
  expect((await get(url, { headers: { 'user-agent': 'openid-client' } })).text).toBe('{"a":1}')
  expect(asked).toMatchObject([{ 'accept-encoding': 'identity', 'user-agent': 'Acme Link' }])
})

test.each([
  ['retry-after', ['3', '5'], '3'],
  ['www-authenticate', ['Basic', 'Bearer'], 'Basic, Bearer'],
])(
  'of a header %s that occurs twice, the first counts, unless its lines form a list',
  async (name, lines, value) => {
    const { url } = await started((_req, res) => void res.setHeader(name, lines).end())
    expect((await client().get(url)).header(name)).toBe(value)
  },
)

test('an empty answer has no text, even if it claims to be compressed, and a mark is removed from its beginning only', async () => {
  const empty = await started((_req, res) => void res.writeHead(200, GZIP).end())
  expect((await client().get(empty.url)).text).toBe('')
  const marked = await started((_req, res) => void res.end('\ufeffa\ufeffb'))
  expect((await client().get(marked.url)).text).toBe('a\ufeffb')
})

test.each([
  [' \n<!DOCTYPE  html>', true],
  ['<html lang="en">', true],
  ['{"text":"<html>"}', false],
  ['<htmlish>', false],
])('%j is a web page: %s', (text, isPage) => expect(isWebPage(text)).toBe(isPage))

test('a client sends nothing after it is closed', async () => {
  let count = 0
  const { url } = await started((_req, res) => void res.end(String(++count)))
  const { http, get } = client()
  await http.close()
  await expect(get(url)).rejects.toMatchObject(UNAVAILABLE)
  expect(count).toBe(0)
})

test('an answer in thousands of small chunks is read in their order', async () => {
  const chunks = Array.from({ length: 2_500 }, (_, index) => `${index} `)
  const { url } = await started(async (_req, res) => {
    for (const chunk of chunks) await new Promise((written) => res.write(chunk, written))
    res.end()
  })
  expect((await client().get(url)).text).toBe(chunks.join(''))
})

test.each([
  ['says gzip and is none', GZIP, Buffer.from('plain'), { ...UNAVAILABLE, kind: 'unreadable' }],
  ['unpacks to more than 8 MB', GZIP, gzipSync(Buffer.alloc(9_000_000)), { code: 'platform_rejected' }],
  ['has more than 8 MB', {}, Buffer.alloc(9_000_000), { code: 'platform_rejected' }],
])('an answer that %s is refused', async (_what, headers, body, error) => {
  const { url } = await started((_req, res) => void res.writeHead(200, headers).end(body))
  await expect(client().get(url)).rejects.toMatchObject(error)
})

test('an answer in more chunks than memory should hold is refused', async () => {
  const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'
  const { url } = await started(
    (_req, res) => void res.socket?.end(`${head}${'1\r\nx\r\n'.repeat(100_001)}0\r\n\r\n`),
  )
  await expect(client().get(url)).rejects.toMatchObject({ code: 'platform_rejected' })
})
