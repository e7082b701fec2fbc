import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { openRedis } from '../../../src/connect/store/redis.ts'
import { keyName } from '../../../src/connect/store/redis-keys.ts'
import { Sentinels } from '../../../src/connect/store/redis-sentinel.ts'
import type { Key } from '../../../src/connect/store/store.ts'
import { News } from '../../../src/connect/timeouts.ts'
import { REDIS, withRedis } from '../../support/programs.ts'
import { createClient, type RedisServer, ready, startRedis } from '../../support/redis.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const LOGIN_NEEDED = '-NOAUTH Authentication required.\r\n'
const NOT_ALLOWED = '-NOPERM this user has no permissions\r\n'

/** The answer of a Sentinel, in the protocol of Redis (https://redis.io/docs/latest/develop/reference/protocol-spec). */
const bulk = (text: string | number) => `$${String(text).length}\r\n${text}\r\n`
const map = (entries: Record<string, string | number>) =>
  `%${Object.keys(entries).length}\r\n${Object.entries(entries).flat().map(bulk).join('')}`

/** A Sentinel that names a master. It refuses questions with `refusal` until a client logs in. */
async function startSentinel(host: string, port = 6379, { epoch = 0, refusal = '', fault = '' } = {}) {
  const says = { host, port, epoch, flags: 'master' }
  const sockets = new Set<Socket>()
  let [attempts, sentPassword, isClosing] = [0, false, fault === 'closing']
  const answer = (command: string[], isLoggedIn: boolean): string => {
    const [name = '', about = ''] = command.map((word) => word.toUpperCase())
    if (name === 'HELLO') return map({ server: 'redis', mode: 'sentinel' })
    if (name !== 'SENTINEL') return name === 'SUBSCRIBE' ? '' : '+OK\r\n'
    if (refusal && !isLoggedIn) return refusal
    if (about !== 'MASTER') return `*2\r\n${bulk(says.host)}${bulk(says.port)}`
    return map({ ip: says.host, port: says.port, flags: says.flags, 'config-epoch': says.epoch })
  }
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}).on('close', () => sockets.delete(socket)))
    attempts++
    if (isClosing) return void socket.destroy()
    let isLoggedIn = false
    socket.on('data', (data) => {
      for (const part of data.toString().split(/(?=^\*\d+\r$)/m)) {
        const command = [...part.matchAll(/^\$\d+\r\n(.*)\r$/gm)].map(([, word = '']) => word)
        if (command.includes('AUTH')) isLoggedIn = sentPassword = true
        const channels = command[0] === 'subscribe' ? command.slice(1) : []
        for (const [index, channel] of channels.entries())
          socket.write(`>3\r\n${bulk('subscribe')}${bulk(channel)}:${index + 1}\r\n`)
        if (fault !== 'silence') socket.write(answer(command, isLoggedIn))
      }
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const close = () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
  closing.push(close)
  return {
    url: `redis+sentinel://127.0.0.1:${(server.address() as AddressInfo).port}/mymaster`,
    says,
    hasPassword: () => sentPassword,
    open: () => sockets.size,
    /** How many connections it has been asked for. */
    attempts: () => attempts,
    announce: (channel: string) => {
      for (const socket of sockets)
        socket.write(`>3\r\n${bulk('message')}${bulk(channel)}${bulk('mymaster')}`)
    },
    /** Its connections end, and so do later ones. */
    fail: () => {
      isClosing = true
      for (const socket of sockets) socket.destroy()
    },
  }
}
/** Follows Sentinels until the test ends. `news` tells of each reason to ask them at once. */
function follow(...urls: string[]) {
  const news = new News()
  closing.push(() => news.end())
  const sentinels = new Sentinels(urls, news)
  // On a busy machine, the first question may take too long.
  return { news, sentinels, names: (url: string) => expect.poll(() => sentinels.master).toBe(url) }
}

test('news ends the pause of whoever has listened since', async () => {
  const news = new News()
  const [wait, later] = [news.listen(), news.listen()]
  news.tell()
  await Promise.all([wait(3_600_000), later(3_600_000)])
})

describe('the master', () => {
  test('is the one that the Sentinel with the highest epoch names, whatever the others say', async () => {
    const [old, other, knowing] = [
      await startSentinel('10.0.0.1'),
      await startSentinel('10.0.0.1'),
      await startSentinel('10.0.0.2', 7000, { epoch: 1 }),
    ]
    const { names } = follow(old.url, other.url, knowing.url)
    await names('redis://10.0.0.2:7000')
    Object.assign(old.says, { host: '10.0.0.3', epoch: 2 })
    await names('redis://10.0.0.3:6379')
  })

  test.each([
    ['is unreachable', () => ({ url: 'redis+sentinel://127.0.0.1:9/mymaster' })],
    ['is silent', () => startSentinel('10.0.0.1', 6379, { fault: 'silence' })],
    ['closes its connections', () => startSentinel('10.0.0.1', 6379, { fault: 'closing' })],
  ])('is found although a Sentinel %s', async (_what, start) => {
    const { url } = await startSentinel('10.0.0.1', 7000)
    const { sentinels } = follow((await start()).url, url)
    await expect.poll(() => sentinels.find().catch(String)).toBe('redis://10.0.0.1:7000')
  })

  test('at an IPv6 address has brackets in its url', async () => {
    await follow((await startSentinel('::1')).url).names('redis://[::1]:6379')
  })

  test.each(['+switch-master', '+try-failover'])('is asked for at once after %s', async (channel) => {
    const sentinel = await startSentinel('10.0.0.1')
    const { news, names } = follow(sentinel.url)
    await names('redis://10.0.0.1:6379')
    const told = vi.spyOn(news, 'tell')
    await expect.poll(() => [sentinel.announce(channel), told.mock.calls.length].at(-1)).toBeGreaterThan(0)
  })

  test('is being replaced while its Sentinel says so, and once that names another one', async () => {
    const { url, says } = await startSentinel('10.0.0.1')
    const { sentinels, names } = follow(url)
    const [former, next] = ['redis://10.0.0.1:6379', 'redis://10.0.0.2:6379']
    await names(former)
    expect(sentinels.isReplacing(former)).toBe(false)
    says.flags = 'master,failover_in_progress'
    await expect.poll(() => sentinels.isReplacing(former)).toBe(true)
    Object.assign(says, { host: '10.0.0.2', epoch: 1, flags: 'master' })
    await names(next)
    expect([former, next].map((one) => sentinels.isReplacing(one))).toEqual([true, false])
  })

  test('is asked for over connections that end with the store', async () => {
    const sentinel = await startSentinel('10.0.0.1')
    const store = openRedis({ urls: [sentinel.url] })
    await expect.poll(sentinel.open).toBe(1)
    await store.close()
    await expect.poll(sentinel.open).toBe(0)
  })
})

test.each([
  ['not sent to a Sentinel that needs no login', '', 'app:secret', false],
  ['sent to a Sentinel that needs a login', LOGIN_NEEDED, 'app:secret', true],
  ['sent to one that does not allow the question without a login', NOT_ALLOWED, 'app:secret', true],
  ['sent also if there is only a password', LOGIN_NEEDED, ':secret', true],
])('the user and the password of the data servers are %s', async (_what, refusal, login, isSent) => {
  const { url, hasPassword } = await startSentinel('10.0.0.1', 6379, { refusal })
  await follow(url.replace('//', `//${login}@`)).names(`redis://${login}@10.0.0.1:6379`)
  expect(hasPassword()).toBe(isSent)
})

// The long tests cover failovers. On a busy machine, an operation may fail after its 2 s, so these tests repeat operations.
describe.skipIf(!REDIS)(`the store behind a Sentinel${withRedis}`, () => {
  const key: Key = { kind: 'note', owner: 'ann', id: '' }
  let servers: [RedisServer, RedisServer]
  beforeAll(async () => {
    servers = [await startRedis(), await startRedis()]
  })
  afterAll(() => Promise.all(servers.map((server) => server.close())))

  /** Sends a command to a server. */
  async function tell({ url }: RedisServer, ...command: string[]): Promise<unknown> {
    const client = await createClient({ url }).connect()
    return client.sendCommand(command).finally(() => client.destroy())
  }

  /** A Sentinel that names the first server, and a store that uses it. */
  async function start() {
    const sentinel = await startSentinel('127.0.0.1', servers[0].port)
    const states: string[] = []
    const onState = (state: string, reason = '') => void states.push(`${state} ${reason}`)
    const store = openRedis({ urls: [sentinel.url], onState })
    closing.push(() => store.close())
    await ready(store)
    const write = () => store.set(key, 'written').catch(({ reason }) => reason)
    return { sentinel, store, states, write }
  }

  test('uses the server that the Sentinel names as soon as this server calls itself a master, although the former master keeps running', async () => {
    await tell(servers[1], 'REPLICAOF', '127.0.0.1', '1')
    const { sentinel, store, states, write } = await start()
    await expect.poll(write).toBeUndefined()
    Object.assign(sentinel.says, { port: servers[1].port, epoch: 1 })
    await expect.poll(() => states.at(-1)).toMatch(/^lost .* is a replica/)
    expect(await store.get(key)).toBe('written')
    await tell(servers[1], 'REPLICAOF', 'NO', 'ONE')
    await expect.poll(() => store.get(key)).toBeNull()
    await expect.poll(write).toBeUndefined()
    expect(await tell(servers[1], 'GET', keyName(key))).toBe('written')
  })

  test('writes to the master that is left if a failover is stuck', async () => {
    const { sentinel, write } = await start()
    const asked = vi.spyOn(Sentinels.prototype, 'isReplacing')
    sentinel.says.flags = 'master,failover_in_progress'
    const isHeld = () => asked.mock.results.some(({ value }) => value)
    await expect.poll(async () => [await write(), isHeld()]).toEqual([undefined, true])
  })

  test('stays connected while no Sentinel answers', async () => {
    const { sentinel, write } = await start()
    sentinel.fail()
    await expect.poll(sentinel.attempts).toBeGreaterThan(5)
    await expect.poll(write).toBeUndefined()
  })

  test('asks the Sentinels at once if the master misses its replicas', async () => {
    const { write } = await start()
    const told = vi.spyOn(News.prototype, 'tell')
    await tell(servers[0], 'CONFIG', 'SET', 'min-replicas-to-write', '1')
    await expect.poll(write).toMatch(/^NOREPLICAS/)
    expect(told).toHaveBeenCalled()
    await tell(servers[0], 'CONFIG', 'SET', 'min-replicas-to-write', '0')
  })
})
