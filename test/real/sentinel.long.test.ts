import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { findMaster as findOnce } from '../../src/connect/store/redis-sentinel.ts'

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

/** What a Sentinel answers, in the protocol of Redis (https://redis.io/docs/latest/develop/reference/protocol-spec). */
const address = (host: string, port = 6379) =>
  `*2\r\n$${host.length}\r\n${host}\r\n$${String(port).length}\r\n${port}\r\n`
const NO_SENTINEL = "-ERR unknown command 'SENTINEL'\r\n"
const LOGIN_NEEDED = '-NOAUTH Authentication required.\r\n'
const NOT_ALLOWED = '-NOPERM this user has no permissions\r\n'

/** A server that speaks the protocol of Redis. It asks for a login with `refusal`, if that is not empty. */
async function sentinel(answer: string, refusal = '') {
  const commands: string[][] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    let isLoggedIn = refusal === ''
    socket.on('error', () => {})
    socket.on('data', (data) => {
      for (const part of data.toString().split(/(?=^\*\d+\r$)/m)) {
        const command = [...part.matchAll(/^\$\d+\r\n(.*)\r$/gm)].map(([, word = '']) => word)
        const name = command[0]?.toUpperCase()
        commands.push(command)
        if (name === 'HELLO') socket.write('%2\r\n$5\r\nproto\r\n:3\r\n$4\r\nmode\r\n$8\r\nsentinel\r\n')
        else if (name === 'SENTINEL') socket.write(isLoggedIn ? answer : refusal)
        else socket.write('+OK\r\n')
        if (name === 'AUTH' || command.includes('AUTH')) isLoggedIn = true
      }
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  closing.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const wasAskedWithLogin = () => commands.flat().includes('secret')
  const asked = () => commands.find(([name]) => name === 'SENTINEL')
  const open = () => [...sockets].filter((socket) => !socket.closed).length
  return { url: `redis+sentinel://127.0.0.1:${port}/mymaster`, asked, wasAskedWithLogin, open }
}

/** The master. On a busy machine, a Sentinel may miss the time limit for connecting; then it is asked again. */
async function findMaster(urls: string[]): Promise<string> {
  for (;;) {
    try {
      return await findOnce(urls)
    } catch (error) {
      if (!/timeout|no answer within/i.test(String(error))) throw error
    }
  }
}

/** A server that is no Sentinel: it reads what is sent. */
async function other(onData: (data: string, socket: Socket) => void) {
  const server = createServer((socket) => {
    socket.on('error', () => {}).on('data', (data) => onData(data.toString(), socket))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  closing.push(() => server.close())
  return `redis+sentinel://127.0.0.1:${(server.address() as AddressInfo).port}/mymaster`
}
const silent = () => other(() => {})
const closes = () =>
  other((data, socket) => {
    if (data.includes('SENTINEL')) socket.destroy()
    else socket.write('+OK\r\n'.repeat(data.match(/^\*/gm)?.length ?? 1))
  })
const unreachable = async () => 'redis+sentinel://127.0.0.1:9/mymaster'

describe('the master', () => {
  test('is the one that most of the Sentinels name, under the name in their address', async () => {
    const named = ['10.0.0.1', '10.0.0.2', '10.0.0.2']
    const sentinels = await Promise.all(named.map((host) => sentinel(address(host))))
    const urls = sentinels.map(({ url }) => url)
    await vi.waitFor(async () => expect(await findMaster(urls)).toBe('redis://10.0.0.2:6379'))
    const questions = sentinels.map(({ asked }) => asked())
    expect(questions).toContainEqual(['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'mymaster'])
  })

  test.each([
    ['that answered', address('10.0.0.1')],
    ['that is none', NO_SENTINEL],
  ])('is asked for over a connection that does not stay open: of a Sentinel %s', async (_which, answer) => {
    const { url, asked, open } = await sentinel(answer)
    await findMaster([url]).catch(() => {})
    expect(asked()).toBeDefined()
    await expect.poll(open).toBe(0)
  })

  test.each([
    ['is unreachable', unreachable],
    ['closes the connection in place of an answer', closes],
  ])('is found although a Sentinel %s', async (_what, start) => {
    const { url } = await sentinel(address('10.0.0.1', 7000))
    expect(await findMaster([await start(), url])).toBe('redis://10.0.0.1:7000')
  })

  test('is found at once although a Sentinel is silent, if most of them agree', async () => {
    const named = await Promise.all([1, 2].map(() => sentinel(address('10.0.0.1', 7000))))
    const urls = [await silent(), ...named.map(({ url }) => url)]
    // A busy machine may need more time once.
    await vi.waitFor(async () =>
      expect(await Promise.race([findMaster(urls), pause(900, 'waits')])).toBe('redis://10.0.0.1:7000'),
    )
  })

  test('at an IPv6 address has brackets in its url', async () => {
    const { url } = await sentinel(address('::1'))
    expect(await findMaster([url])).toBe('redis://[::1]:6379')
  })
})

test.each([
  ['not sent to a Sentinel that needs no login', '', 'app:secret', false],
  ['sent to a Sentinel that needs a login', LOGIN_NEEDED, 'app:secret', true],
  ['sent to one that does not allow the question without a login', NOT_ALLOWED, 'app:secret', true],
  ['sent also if there is only a password', LOGIN_NEEDED, ':secret', true],
])('the user and the password of the data servers are %s', async (_what, refusal, login, isSent) => {
  const { url, wasAskedWithLogin } = await sentinel(address('10.0.0.1'), refusal)
  expect(await findMaster([url.replace('//', `//${login}@`)])).toBe(`redis://${login}@10.0.0.1:6379`)
  expect(wasAskedWithLogin()).toBe(isSent)
})
