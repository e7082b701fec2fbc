import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createLog } from '../../src/runtime/log.ts'
import { listen, onStopSignal } from '../../src/runtime/serve.ts'
import { requestLog } from '../../src/web/requests/request-log.ts'
import { freePort } from '../support/ports.ts'

const on = async () => ({ port: await freePort(), variable: 'PORT' })

test('an address with a code as long as a token may be is accepted', async () => {
  const options = await on()
  const server = await listen((_req, res) => void res.end('read'), options)
  const answer = await fetch(`http://localhost:${options.port}/connect/callback?code=${'c'.repeat(16_384)}`)
  expect([answer.status, await answer.text()]).toEqual([200, 'read'])
  await server.stop(0)
})

test('a connection carries at most 1,000 requests, however many arrive in one packet', async () => {
  let handled = 0
  const options = await on()
  const server = await listen((_req, res) => res.end(`answer ${++handled}`), options)
  onTestFinished(() => server.stop(0))
  const socket = connect(options.port, '127.0.0.1')
  let answers = ''
  socket.on('data', (data) => {
    answers += data
  })
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(2_000))
  await vi.waitUntil(() => answers.match(/HTTP\/1\.1 /g)?.length === 2_000, 20_000)
  expect(answers.match(/answer \d+/g)).toHaveLength(1_000)
  expect(handled).toBe(1_000)
  socket.destroy()
})

describe('stopping', () => {
  test('closes the port at once, and answers what a proxy sends on an open connection, which then ends', async () => {
    const options = await on()
    const server = await listen((_req, res) => void res.end('answer'), options)
    const socket = connect(options.port, '127.0.0.1')
    await once(socket, 'connect')
    const stopped = server.stop(5_000)
    await expect(fetch(`http://127.0.0.1:${options.port}`)).rejects.toThrow()
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 [\s\S]*Connection: close[\s\S]*answer/)
    await stopped
  })

  test('waits for requests in flight, but no longer than its grace', async () => {
    const options = await on()
    const asked = Promise.withResolvers<void>()
    const server = await listen(() => asked.resolve(), options)
    const hanging = fetch(`http://localhost:${options.port}`).catch(() => 'cut off')
    await asked.promise
    const started = performance.now()
    await server.stop(300)
    expect(performance.now() - started).toBeGreaterThan(250)
    expect(await hanging).toBe('cut off')
  })
})

describe('a stop signal', () => {
  /** A program that has got one, at 0 ms. */
  function stopping() {
    const exit = vi.spyOn(process, 'exit').mockImplementation(() => undefined as never)
    const work = Promise.withResolvers<void>()
    let time = 0
    onStopSignal(
      () => work.promise,
      () => time,
    )
    const handlers = (['SIGINT', 'SIGTERM'] as const).map(
      (name) => [name, process.listeners(name).at(-1)] as const,
    )
    const handler = handlers[0]?.[1]
    onTestFinished(() => {
      for (const [name, listener] of handlers) if (listener) process.off(name, listener)
      exit.mockRestore()
    })
    const signal = (ms: number) => {
      time = ms
      handler?.('SIGINT')
    }
    signal(0)
    return { exit, signal, finish: work.resolve }
  }

  test('that comes twice at once, as npm passes on that of the terminal, lets the work end', async () => {
    const { exit, signal, finish } = stopping()
    signal(1)
    expect(exit).not.toHaveBeenCalled()
    finish()
    await vi.waitFor(() => expect(exit.mock.calls).toEqual([[0]]))
  })

  test('that comes again later ends the program at once', () => {
    const { exit, signal } = stopping()
    signal(1_001)
    expect(exit.mock.calls).toEqual([[1]])
  })
})

describe('a demo', () => {
  const statusFor = (port: number, address: string, host: string) =>
    new Promise<number>((resolve, reject) => {
      request({ host: address, port, headers: { host } }, (res) => {
        res.resume()
        resolve(res.statusCode ?? 0)
      })
        .on('error', reject)
        .end()
    })

  test('answers this machine under its own names only', async () => {
    const options = await on()
    const server = await listen((_req, res) => void res.end('hello'), {
      ...options,
      localOnly: ['tunnel.example'],
    })
    const at = (host: string) => statusFor(options.port, '127.0.0.1', host)
    expect([await at('localhost:3000'), await at('127.0.0.1'), await at('tunnel.example')]).toEqual([
      200, 200, 200,
    ])
    expect([await at('evil.example'), await at('localhost.evil.example')]).toEqual([403, 403])
    const outside = Object.values(networkInterfaces())
      .flat()
      .find((face) => face && !face.internal && face.family === 'IPv4')
    if (outside) expect(await statusFor(options.port, outside.address, 'localhost')).toBe(403)
    await server.stop(0)
  })

  const FORWARDED = [
    'forwarded',
    'x-forwarded-for',
    'x-forwarded-proto',
    'x-forwarded',
    'x-real-ip',
    'x-client-ip',
    'true-client-ip',
    'fly-client-ip',
    'x-original-host',
    'cf-connecting-ip',
    'via',
  ]

  test('is closed to what a proxy or tunnel passes on', async () => {
    const options = await on()
    const server = await listen((_req, res) => void res.end('hello'), { ...options, localOnly: [] })
    const at = `http://127.0.0.1:${options.port}`
    for (const header of FORWARDED) {
      const answer = await fetch(at, { headers: { [header]: '203.0.113.9' } })
      expect([answer.status, (await fetch(at)).status], header).toEqual([403, 200])
      expect(await answer.text()).toContain('DEMO_ALLOW_REMOTE=true')
    }
    await server.stop(0)
  })
})

test('idle connections stay open for longer than proxies keep them: Google’s load balancers for 600 seconds', async () => {
  const options = await on()
  const server = await listen((_req, res) => void res.end('hello'), options)
  const { headers } = await fetch(`http://127.0.0.1:${options.port}`)
  expect(Number(/timeout=(\d+)/.exec(headers.get('keep-alive') ?? '')?.[1])).toBeGreaterThan(600)
  await server.stop(0)
})

describe('HOST', () => {
  const outside = Object.values(networkInterfaces())
    .flat()
    .find((face) => face && !face.internal && face.family === 'IPv4')

  test('is the only address that is listened on', async () => {
    const options = await on()
    const server = await listen((_req, res) => void res.end('hello'), { ...options, host: '127.0.0.1' })
    expect((await fetch(`http://127.0.0.1:${options.port}`)).status).toBe(200)
    if (outside) await expect(fetch(`http://${outside.address}:${options.port}`)).rejects.toThrow()
    await server.stop(0)
  })

  test('that is not this machine’s is named', async () => {
    await expect(listen(() => {}, { ...(await on()), host: '203.0.113.9' })).rejects.toThrow(
      /^HOST: 203\.0\.113\.9/,
    )
  })
})

test('a port that is in use is named, with its variable', async () => {
  const options = await on()
  const server = await listen(() => {}, options)
  await expect(listen(() => {}, options)).rejects.toThrow(
    new RegExp(`^PORT: port ${options.port} is already in use`),
  )
  await server.stop(0)
})

describe('the log', () => {
  test('cuts out what is secret by its name, should anyone log it', () => {
    const lines: string[] = []
    const log = createLog('info', { write: (line) => void lines.push(line) })
    const secrets = {
      accessToken: 'S1',
      refresh_token: 'S2',
      clientSecret: 'S3',
      cookie: 'S4',
      authorization: 'S5',
    }
    log.info(secrets)
    log.info({ connection: secrets })
    expect(lines.join()).not.toMatch(/S\d/)
    expect(lines.join()).toContain('[redacted]')
  })

  test('names a request’s route, not its path or query', async () => {
    const { default: express } = await import('express')
    const lines: string[] = []
    const app = express()
    app.use(requestLog(createLog('info', { write: (line) => void lines.push(line) })))
    app.get('/connections/:bxcontext/probe', (_req, res) => void res.end())
    const options = await on()
    const server = await listen(app, options)
    await fetch(`http://localhost:${options.port}/connections/private-name/probe?code=secret`)
    await fetch(`http://localhost:${options.port}/nowhere/private-name`)
    await server.stop(1000)
    expect(lines.join()).toContain('"route":"/connections/:bxcontext/probe"')
    expect(lines.join()).not.toMatch(/private-name|secret/)
  })
})
