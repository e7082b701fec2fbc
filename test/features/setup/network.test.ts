import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { noAnswer } from '../../../src/features/setup/findings.ts'
import { CERTIFICATES, TEST_CA } from '../../support/certificates.ts'
import { type OtherPlatform, startOtherPlatform } from '../../support/other-platform.ts'
import { freePort, serve } from '../../support/ports.ts'
import { type Env, expectDiagnosis, findings, problemsOf } from './support.ts'

let platform: OtherPlatform
beforeAll(async () => {
  platform = await startOtherPlatform()
})
afterAll(() => platform.close())

async function listening(server: Server): Promise<number> {
  onTestFinished(() => void server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

const nobodyListens = async () => `http://127.0.0.1:${await freePort()}`
const ADDRESSES = ['PLATFORM_APP_URL', 'PLATFORM_AUTH_URL', 'PLATFORM_API_URL'] as const

describe('an address that does not answer is one finding:', () => {
  test.each([
    [
      'PLATFORM_APP_URL',
      'the host is unknown',
      'address.unknown-host',
      async () => 'http://no-such-host.invalid',
    ],
    ['PLATFORM_AUTH_URL', 'nobody listens', 'address.refused', nobodyListens],
    ['PLATFORM_API_URL', 'nobody listens', 'address.refused', nobodyListens],
  ])('%s: %s', async (setting, _what, id, address) => {
    await expectDiagnosis(platform.env, { [setting]: await address() }, id, setting)
  })

  test('PLATFORM_INTERNAL_URLS: nobody listens', async () => {
    const { origin } = new URL(platform.env.PLATFORM_API_URL ?? '')
    const wrong = { PLATFORM_INTERNAL_URLS: `${origin}=${await nobodyListens()}` }
    await expectDiagnosis(platform.env, wrong, 'address.refused', 'PLATFORM_INTERNAL_URLS')
  })

  test('a server that accepts and does not answer', async () => {
    const sockets: Socket[] = []
    const port = await listening(createServer((socket) => void sockets.push(socket)))
    const wrong = { ...platform.env, PLATFORM_API_URL: `http://127.0.0.1:${port}` }
    const found = problemsOf(await findings(wrong, { timeoutMs: 1_000 }))
    expect(found).toMatchObject([{ id: 'address.timeout', setting: 'PLATFORM_API_URL' }])
    for (const socket of sockets) socket.destroy()
  })

  test('a server that closes the connection', async () => {
    const port = await listening(createServer((socket) => socket.destroy()))
    const wrong = { PLATFORM_API_URL: `http://127.0.0.1:${port}` }
    await expectDiagnosis(platform.env, wrong, 'address.no-answer', 'PLATFORM_API_URL')
  })

  test('https where the server has none', async () => {
    const wrong = { PLATFORM_AUTH_URL: platform.env.PLATFORM_AUTH_URL?.replace('http:', 'https:') ?? '' }
    await expectDiagnosis(platform.env, wrong, 'tls.not-tls', 'PLATFORM_AUTH_URL')
  })
})

describe('TLS', () => {
  const usual = getCACertificates('default')
  beforeAll(() => setDefaultCACertificates([...usual, TEST_CA]))
  afterAll(() => setDefaultCACertificates(usual))

  /** The platform's address behind TLS. */
  async function withCertificate(certificate: { key: string; cert: string }): Promise<Env> {
    const server = createHttpsServer(certificate, async (req, res) => {
      const response = await fetch(platform.url + req.url)
      res.writeHead(response.status, Object.fromEntries(response.headers)).end(await response.text())
    })
    const port = await listening(server)
    return { PLATFORM_API_URL: `https://localhost:${port}/gateway/api/v1` }
  }

  test('a certificate of a known issuer has no problem', async () => {
    const env = { ...platform.env, ...(await withCertificate(CERTIFICATES.valid)) }
    expect(problemsOf(await findings(env))).toEqual([])
  })

  test.each(['expired', 'otherName'] as const)('a certificate that is wrong: %s', async (kind) => {
    const id = kind === 'expired' ? 'tls.expired' : 'tls.wrong-name'
    await expectDiagnosis(platform.env, await withCertificate(CERTIFICATES[kind]), id, 'PLATFORM_API_URL')
  })

  test('an http address of a server with TLS only is named, with the question whether it needs https', async () => {
    const setting = 'PLATFORM_API_URL'
    const { [setting]: https = '' } = await withCertificate(CERTIFICATES.valid)
    const found = problemsOf(await findings({ ...platform.env, [setting]: https.replace('https:', 'http:') }))
    expect(found).toMatchObject([{ id: 'address.no-answer', setting }])
    expect(found[0]?.text).toContain('https')
  })

  test('an unknown issuer is named with the variable that helps, and then has no problem', async () => {
    const env = { ...platform.env, ...(await withCertificate(CERTIFICATES.valid)) }
    setDefaultCACertificates(usual)
    const [problem, ...others] = problemsOf(await findings(env))
    setDefaultCACertificates([...usual, TEST_CA])
    expect(others).toEqual([])
    expect(problem).toMatchObject({ id: 'tls.unknown-issuer', setting: 'PLATFORM_API_URL' })
    expect(problem?.text).toContain('NODE_EXTRA_CA_CERTS')
    expect(problemsOf(await findings(env))).toEqual([])
  })
})

describe('a forward proxy', () => {
  /** A proxy that forwards every request to the platform, whatever its host. It requires the password unless that is null. */
  async function startProxy(password: string | null) {
    const asked: string[] = []
    const server = await serve(async (req, res) => {
      asked.push(req.url ?? '')
      if (password && req.headers['proxy-authorization'] !== `Basic ${btoa(`user:${password}`)}`)
        return void res.writeHead(407).end()
      const chunks = await Array.fromAsync(req)
      const { pathname, search } = new URL(req.url ?? '')
      const response = await fetch(platform.url + pathname + search, {
        method: req.method ?? 'GET',
        headers: { 'content-type': req.headers['content-type'] ?? '' },
        body: req.method === 'POST' ? Buffer.concat(chunks) : null,
        redirect: 'manual',
      })
      const text = await response.text()
      res.writeHead(response.status, Object.fromEntries(response.headers)).end(text)
    })
    server.server.on('connect', (_req, socket) => {
      asked.push('CONNECT')
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
    })
    onTestFinished(server.close)
    return { asked, url: `http://127.0.0.1:${server.port}` }
  }

  const far = (env: Env) =>
    Object.fromEntries(
      Object.entries(env).map(([name, value]) => [
        name,
        name.startsWith('PLATFORM_') ? value.replace(platform.url, 'http://platform.example') : value,
      ]),
    )

  test('is used for every address', async () => {
    const proxy = await startProxy(null)
    const found = await findings({ ...far(platform.env), HTTP_PROXY: proxy.url })
    expect(problemsOf(found)).toEqual([])
    expect(proxy.asked.every((url) => url.startsWith('http://platform.example/'))).toBe(true)
    expect(proxy.asked.length).toBeGreaterThan(5)
  })

  test('is not used for hosts of NO_PROXY', async () => {
    const proxy = await startProxy(null)
    const env = { ...far(platform.env), HTTP_PROXY: proxy.url, NO_PROXY: 'platform.example' }
    expect(problemsOf(await findings(env))[0]).toMatchObject({ id: 'address.unknown-host' })
    expect(proxy.asked).toEqual([])
  })

  test('that does not run is named beside the address; an address that does not use it is checked', async () => {
    const address = await nobodyListens()
    const api = { PLATFORM_API_URL: platform.env.PLATFORM_API_URL ?? '', NO_PROXY: '127.0.0.1' }
    const found = await findings({ ...far(platform.env), ...api, HTTP_PROXY: address })
    expect(problemsOf(found)).toMatchObject([
      { id: 'address.refused', status: 'failure', text: expect.stringContaining('proxy') },
    ])
    expect(found.map(({ id }) => id)).toContain('api')
  })

  test('that refuses our password is one finding, without the password', async () => {
    const proxy = await startProxy('right')
    const { host } = new URL(proxy.url)
    const wrong = { ...far(platform.env), HTTP_PROXY: `http://user:wrong-one@${host}` }
    const found = await findings(wrong)
    expect(problemsOf(found)).toMatchObject([{ id: 'proxy.rejected', setting: 'HTTP_PROXY' }])
    expect(JSON.stringify(found)).not.toContain('wrong-one')
    const secure = Object.fromEntries(ADDRESSES.map((name) => [name, 'https://platform.example']))
    const throughTunnel = { ...platform.env, ...secure, HTTPS_PROXY: wrong.HTTP_PROXY }
    expect(problemsOf(await findings(throughTunnel))).toMatchObject([
      { id: 'proxy.rejected', setting: 'HTTPS_PROXY' },
    ])
    expect(problemsOf(await findings({ ...wrong, HTTP_PROXY: `http://user:right@${host}` }))).toEqual([])
  })
})

test('a mail server that does not answer is diagnosed like the platform, without the proxy and the sandbox', () => {
  const refused = (address: string) => noAnswer('MAIL_URL', address, 'ECONNREFUSED').text
  expect(refused('http://localhost:1')).toMatch(/forward proxy.*npm run sandbox/)
  expect(refused('localhost:1')).toMatch(/correct the host and the port$/)
  const { text } = noAnswer('MAIL_URL', 'localhost:1', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE')
  expect(text).toContain('NODE_EXTRA_CA_CERTS')
})
