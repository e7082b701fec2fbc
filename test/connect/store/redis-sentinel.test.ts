import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createClient } from 'redis'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { openRedis } from '../../../src/connect/store/redis.ts'
import { Sentinels } from '../../../src/connect/store/redis-sentinel.ts'
import type { Key } from '../../../src/connect/store/store.ts'
import { News } from '../../../src/connect/timeouts.ts'
import { REDIS, withRedis } from '../../support/programs.ts'
import { type RedisServer, ready, startRedis } from '../../support/redis.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const NO_SENTINEL = "-ERR unknown command 'SENTINEL'\r\n"
const LOGIN_NEEDED = '-NOAUTH Authentication required.\r\n'
const NOT_ALLOWED = '-NOPERM this user has no permissions\r\n'

/** What a Sentinel answers, in the protocol of Redis (https://redis.io/docs/latest/develop/reference/protocol-spec). */
const bulk = (text: string | number) => `$${String(text).length}\r\n${text}\r\n`
const map = (entries: Record<string, string | number>) =>
  `%${Object.keys(entries).length}\r\n${Object.entries(entries).flat().map(bulk).join('')}`

/** A Sentinel that names a master. It refuses questions with `refusal` until somebody logs in. */
async function startSentinel(host: string, port = 6379, { epoch = 0, refusal = '', fault = '' } = {}) {
  const says = { host, port, epoch, flags: 'master' }
  const questions: string[][] = []
  const sockets = new Set<Socket>()
  let [attempts, sentPassword, isClosing] = [0, false, fault === 'closing']
  const answer = (command: string[], isLoggedIn: boolean): string => {
    const [name = '', about = ''] = command.map((word) => word.toUpperCase())
    if (name === 'HELLO') return map({ server: 'redis', mode: 'sentinel' })
    if (name !== 'SENTINEL') return name === 'SUBSCRIBE' ? '' : '+OK\r\n'
    questions.push(command)
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
    questions,
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
type Sentinel = Awaited<ReturnType<typeof startSentinel>>

function follow(...urls: string[]): Sentinels {
  const news = new News()
  closing.push(() => news.end())
  return new Sentinels(urls, news)
}

/** From now on, only news is a reason to ask a Sentinel again, and no time that has passed. */
function onlyNews(): void {
  const { listen } = News.prototype
  vi.spyOn(News.prototype, 'listen').mockImplementation(function (this: News) {
    const wait = listen.call(this)
    return () => wait(3_600_000)
  })
}

/** This causes a question. It has been asked for the name of the master, and once more, since that was news. */
async function asksAtOnce({ questions }: Sentinel, cause: () => unknown): Promise<void> {
  await expect.poll(() => questions.length).toBe(4)
  await cause()
  await expect.poll(() => questions.length).toBe(6)
}

describe('the master', () => {
  test('is the one that the Sentinel with the highest epoch names, whatever the others say', async () => {
    const [old, other, knowing] = [
      await startSentinel('10.0.0.1'),
      await startSentinel('10.0.0.1'),
      await startSentinel('10.0.0.2', 7000, { epoch: 1 }),
    ]
    const sentinels = follow(old.url, other.url, knowing.url)
    expect(await sentinels.find()).toBe('redis://10.0.0.2:7000')
    await expect.poll(() => old.questions).toContainEqual(['SENTINEL', 'MASTER', 'mymaster'])
    Object.assign(old.says, { host: '10.0.0.3', epoch: 2 })
    await expect.poll(() => sentinels.master).toBe('redis://10.0.0.3:6379')
  })

  test.each([
    ['is unreachable', () => ({ url: 'redis+sentinel://127.0.0.1:9/mymaster' })],
    ['is silent', () => startSentinel('10.0.0.1', 6379, { fault: 'silence' })],
    ['closes its connections', () => startSentinel('10.0.0.1', 6379, { fault: 'closing' })],
  ])('is found although a Sentinel %s', async (_what, start) => {
    const { url } = await startSentinel('10.0.0.1', 7000)
    expect(await follow((await start()).url, url).find()).toBe('redis://10.0.0.1:7000')
  })

  test('is not known if the server is no Sentinel, and the error says what to write', async () => {
    const { url } = await startSentinel('10.0.0.1', 6379, { refusal: NO_SENTINEL })
    await expect(follow(url).find()).rejects.toThrow(/write redis:\/\/127.0.0.1:\d+ in REDIS_URL/)
  })

  test('at an IPv6 address has brackets in its url', async () => {
    const { url } = await startSentinel('::1')
    expect(await follow(url).find()).toBe('redis://[::1]:6379')
  })

  test.each(['+switch-master', '+try-failover'])('is asked for at once after %s', async (channel) => {
    onlyNews()
    const sentinel = await startSentinel('10.0.0.1')
    await follow(sentinel.url).find()
    await asksAtOnce(sentinel, () => sentinel.announce(channel))
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
  expect(await follow(url.replace('//', `//${login}@`)).find()).toBe(`redis://${login}@10.0.0.1:6379`)
  expect(hasPassword()).toBe(isSent)
})

// The store waits for Redis for 2 s, in which a busy machine may not even ask a Sentinel.
describe.skipIf(!REDIS)(`the store behind a Sentinel${withRedis}`, { retry: 2 }, () => {
  const key: Key = { kind: 'note', owner: 'ann', id: '' }
  let servers: [RedisServer, RedisServer]
  beforeAll(async () => {
    servers = [await startRedis(), await startRedis()]
  })
  afterAll(() => Promise.all(servers.map((server) => server.close())))

  /** Sends a command to a server. */
  async function tell({ url }: RedisServer, ...command: string[]): Promise<void> {
    const client = await createClient({ url }).connect()
    await client.sendCommand(command)
    client.destroy()
  }

  /** A Sentinel that names the first server, and a store that uses it. */
  async function start() {
    const sentinel = await startSentinel('127.0.0.1', servers[0].port)
    const states: string[] = []
    const onState = (state: string, reason = '') => void states.push(`${state} ${reason}`)
    const store = openRedis({ urls: [sentinel.url], onState })
    closing.push(() => store.close())
    await ready(store)
    const [{ says }, [, second]] = [sentinel, servers]
    /** The second server becomes the master, and the first one does not notice. */
    const failOver = () => Object.assign(says, { port: second.port, epoch: says.epoch + 1, flags: 'master' })
    return { sentinel, store, states, failOver }
  }

  test('writes to the master that the Sentinel names as soon as it does, although the former one goes on', async () => {
    const { store, failOver } = await start()
    await store.set(key, 'former')
    failOver()
    await expect.poll(() => store.get(key)).not.toBe('former')
    await store.set(key, 'new')
    const second = await ready(openRedis({ urls: [servers[1].url] }))
    expect(await second.get(key)).toBe('new')
    await second.close()
  })

  test('repeats at the new master what the former one has not answered', async () => {
    const { store, failOver } = await start()
    await tell(servers[0], 'CLIENT', 'PAUSE', '5000', 'WRITE')
    const writing = store.set(key, 'repeated')
    failOver()
    await writing
    expect(await store.get(key)).toBe('repeated')
    await tell(servers[0], 'CLIENT', 'UNPAUSE')
  })

  test('holds writes back while a failover is under way, and reads on', async () => {
    const { sentinel, store, failOver } = await start()
    await vi.waitFor(() => store.set(key, 'before'))
    const { says, questions } = sentinel
    says.flags = 'master,failover_in_progress'
    const seen = questions.length
    await expect.poll(() => questions.length).toBeGreaterThan(seen + 3)
    const writing = store.set(key, 'after')
    expect(await store.get(key)).toBe('before')
    failOver()
    await writing
    expect(await store.get(key)).toBe('after')
  })

  test('writes to the master that is left if a failover is stuck', async () => {
    const { sentinel, store } = await start()
    sentinel.says.flags = 'master,failover_in_progress'
    const seen = sentinel.questions.length
    await expect.poll(() => sentinel.questions.length).toBeGreaterThan(seen + 3)
    await store.set(key, 'written')
    expect(await store.get(key)).toBe('written')
  })

  test('uses no server that does not say that it is a master', async () => {
    await tell(servers[1], 'REPLICAOF', '127.0.0.1', '1')
    const { store, states, failOver } = await start()
    await store.set(key, 'kept')
    failOver()
    await expect.poll(() => states.at(-1)).toMatch(/^lost .* is a replica/)
    expect(await store.get(key)).toBe('kept')
    await tell(servers[1], 'REPLICAOF', 'NO', 'ONE')
    await expect.poll(() => states.at(-1)).toBe('connected ')
  })

  test('stays connected while no Sentinel answers', async () => {
    const { sentinel, store, states } = await start()
    sentinel.fail()
    await expect.poll(sentinel.attempts).toBeGreaterThan(5)
    await store.set(key, 'written')
    expect(states).toEqual(['connected '])
  })

  test('asks the Sentinels at once if the master misses its replicas', async () => {
    onlyNews()
    const { sentinel, store } = await start()
    await tell(servers[0], 'CONFIG', 'SET', 'min-replicas-to-write', '1')
    await asksAtOnce(sentinel, () =>
      expect(store.set(key, 'refused')).rejects.toMatchObject({
        reason: expect.stringMatching(/^NOREPLICAS/),
      }),
    )
    await tell(servers[0], 'CONFIG', 'SET', 'min-replicas-to-write', '0')
  })
})
