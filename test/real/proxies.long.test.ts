import { existsSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { Agent, type RequestOptions, request } from 'node:https'
import { text as textOf } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { TEST_CA } from '../support/certificates.ts'
import { fileForm } from '../support/file-form.ts'
import { connected } from '../support/flow.ts'
import { freePort } from '../support/ports.ts'
import { REDIS, withRedis } from '../support/programs.ts'
import type { Visitor } from '../support/visitor.ts'
import { startProcesses } from './processes.ts'
import { PROXIES } from './proxies.ts'

/**
 * Unless it is told otherwise, Node closes a connection 6 seconds after its last response. A proxy that sends a POST at that moment
 * cannot know whether it was carried out. The responses don't arrive at the same time, so this is before that moment for some
 * connections, and after it for others.
 */
const IDLE_MS = 5_970
const CONNECTIONS = 40
/** How many requests of the load are under way at a time. */
const AT_A_TIME = 6

/** Removes the part that differs in each problem, so that problems of the same kind are counted together. */
const REQUEST_ID = /"[^"]*":"[0-9a-f-]{36}",?/

const JSON_TYPE = { accept: 'application/json' }
const usual = getCACertificates('default')
beforeAll(() => setDefaultCACertificates([...usual, TEST_CA]))
afterAll(() => setDefaultCACertificates(usual))

/** Sends a request once. Resolves to 200, to another status with its body, or to the code of the error. */
function statusOf(url: string, options: RequestOptions, body?: string): Promise<number | string> {
  return new Promise((resolve) => {
    const sent = request(url, options, (res) => {
      const { statusCode } = res
      textOf(res).then(
        (body) => resolve(statusCode === 200 ? 200 : `${statusCode} ${body.replace(REQUEST_ID, '')}`),
        (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message),
      )
    })
    sent.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    sent.end(body)
  })
}

/** Resolves to the encoding of an answer. */
const encodingOf = (url: string, headers: Record<string, string>): Promise<string | undefined> =>
  new Promise((resolve, reject) => {
    const received = ({ headers }: IncomingMessage) => resolve(headers['content-encoding'])
    request(url, { headers }, (res) => received(res.resume()))
      .once('error', reject)
      .end()
  })

/** A sign-in without a session: it writes to the store, and may be repeated. */
function signIn(url: string, agent: Agent): Promise<number | string> {
  const headers = { ...JSON_TYPE, 'content-type': 'application/json' }
  return statusOf(`${url}/sign-in`, { method: 'POST', agent, headers }, JSON.stringify({ name: 'bob' }))
}

describe.each(PROXIES)(`behind $name${withRedis}`, (product) => {
  const { start, settings, noticesWithinMs } = product
  const skip = !REDIS || product.skip
  let url: string
  let ports: readonly [number, number]
  let processes: Awaited<ReturnType<typeof startProcesses>>
  let stop: () => Promise<void>
  let visitor: Visitor

  beforeAll(async () => {
    if (skip) return
    const port = await freePort()
    url = `https://localhost:${port}`
    ports = [await freePort(), await freePort()]
    processes = await startProcesses(url, ports, (SANDBOX_URL) => ({
      ...{ SANDBOX_URL, HOST: '127.0.0.1', TRUST_PROXY: '1', DEMO_ALLOW_REMOTE: 'true', LOG_LEVEL: 'error' },
      ...settings,
    }))
    stop = await start({ port, targets: ports })
    const { platform } = processes
    const email = 'priya@summit.example'
    visitor = await connected({ url, platform }, { bxcontext: 'summit-supplies', email })
  })
  afterAll(async () => {
    await stop?.()
    await processes?.close()
  })

  const cookie = () =>
    [...(visitor.cookies.get(new URL(url).host) ?? [])].map(([name, value]) => `${name}=${value}`).join('; ')

  test.skipIf(skip)('POSTs on connections that have been idle for six seconds are answered', async () => {
    const agents = Array.from({ length: CONNECTIONS }, () => new Agent({ keepAlive: true, maxSockets: 1 }))
    const statuses = []
    for (const idleMs of [0, IDLE_MS, IDLE_MS]) {
      await pause(idleMs)
      statuses.push(...(await Promise.all(agents.map((agent) => signIn(url, agent)))))
    }
    for (const agent of agents) agent.destroy()
    expect(statuses.filter((status) => status !== 200)).toEqual([])
  })

  test.skipIf(skip)('the first page of a connect is compressed, with its styles and scripts', async () => {
    const page = await visitor.get(`${url}/connect`)
    const parts = [...page.text.matchAll(/(?:href|src)="(\/assets\/[^"]+\.(?:css|js))"/g)].map(
      ([, path]) => path,
    )
    expect(parts.length).toBeGreaterThan(1)
    for (const path of ['/connect', ...parts]) {
      const headers = { cookie: cookie(), accept: 'text/html', 'accept-encoding': 'gzip' }
      expect(await encodingOf(`${url}${path}`, headers), path).toBe('gzip')
    }
  })

  test.skipIf(skip)('no GET and no POST fails while one process after the other restarts', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: AT_A_TIME })
    const headers = { ...JSON_TYPE, cookie: cookie() }
    let sent = 0
    const failed: Record<string, number> = {}
    let restarted = false

    async function keepSending(): Promise<void> {
      while (!restarted) {
        const isPost = sent++ % 3 === 0
        const status = await (isPost
          ? signIn(url, agent)
          : statusOf(`${url}/connections`, { agent, headers }))
        const name = `${isPost ? 'POST' : 'GET'} ${status}`
        if (status !== 200) failed[name] = (failed[name] ?? 0) + 1
        // So the load is that of a busy site, and not as high as the machine can make it.
        await pause(100)
      }
    }
    async function restartBoth(): Promise<void> {
      // By then, the proxy has connections to both processes.
      await vi.waitUntil(() => sent > 200, { timeout: 60_000, interval: 10 })
      for (const index of [0, 1]) {
        await processes.restart(index)
        await pause(noticesWithinMs)
      }
      // Sends more requests after both processes have restarted.
      const before = sent
      await vi.waitUntil(() => sent > before + 200, { timeout: 60_000, interval: 10 })
      restarted = true
    }
    await Promise.all([restartBoth(), ...Array.from({ length: AT_A_TIME }, keepSending)])
    agent.destroy()
    expect(failed).toEqual({})
  })

  test.skipIf(skip || !existsSync('src/features/supplier/catalogue-files'))(
    'a catalogue file of nearly 20 MB arrives whole',
    async () => {
      const ITEMS = 2_900
      const description = 'timber '.repeat(960)
      const lines = Array.from({ length: ITEMS }, (_, item) => `T-${item},${description},each,${item + 1}.50`)
      const text = ['code,description,unit,price', ...lines].join('\n')
      expect(text.length).toBeGreaterThan(19_000_000)
      const connection = `${url}/connections/summit-supplies`
      const form = { name: 'Behind a proxy', scope: 'Public' }
      const created = await visitor.post(`${connection}/catalogues`, { form, ...JSON_TYPE })
      const catalogue = `${connection}/catalogues/${created.json().id}`
      const upload = () => visitor.post(`${catalogue}/import`, { ...fileForm(text), ...JSON_TYPE })
      // On a busy machine, Redis may take longer for such a file than the app waits for it.
      const checked = await vi.waitUntil(() => upload().then((answer) => answer.status !== 503 && answer), {
        timeout: 60_000,
        interval: 1_000,
      })
      expect(checked.status, checked.text).toBe(201)
      expect(checked.json()).toMatchObject({ state: 'ready', items: ITEMS })
    },
  )
})
