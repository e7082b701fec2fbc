import { once } from 'node:events'
import { createServer, get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { StoreUnavailableError } from '../../src/connect/errors.ts'
import { createChangeStreams } from '../../src/web/sse.ts'
import { sharedApp } from '../support/app.ts'
import { connected, newUser, signedIn } from '../support/flow.ts'
import type { Visitor } from '../support/visitor.ts'

const app = await sharedApp()
const opened: IncomingMessage[] = []
afterEach(() => {
  for (const stream of opened.splice(0)) stream.destroy()
})

/** An open stream, and what it has received. */
async function open(visitor: Visitor) {
  const cookies = visitor.cookies.get(new URL(app.url).host) ?? []
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const res = await new Promise<IncomingMessage>((resolve) =>
    get(`${app.url}/connections/live`, { headers: { cookie }, agent: false }, resolve),
  )
  opened.push(res)
  const stream = { text: '', ended: false, close: () => res.destroy() }
  res.setEncoding('utf8').on('data', (chunk) => {
    stream.text += chunk
  })
  res.on('end', () => {
    stream.ended = true
  })
  return stream
}

const stillOpen = (streams: { ended: boolean }[]) => streams.map(({ ended }) => !ended)

describe('event streams', () => {
  test('of a user are eight at most: the oldest closes, and reconnects a minute later; other users keep theirs', async () => {
    const ben = await open(await signedIn(app, newUser()))
    const name = newUser()
    const sessions = [await signedIn(app, name), await signedIn(app, name)]
    const streams: Awaited<ReturnType<typeof open>>[] = []
    for (const session of sessions) for (let count = 0; count < 5; count++) streams.push(await open(session))
    await vi.waitFor(() => expect(stillOpen(streams)).toEqual([false, false, ...Array(8).fill(true)]))
    expect(streams[0]?.text).toMatch(/retry: 60000\n\n$/)
    expect(streams[9]?.text).not.toContain('retry: 60000')
    expect(ben.ended).toBe(false)
  })

  test('say without data that a connection has changed, also after others were closed', async () => {
    const userId = newUser()
    const ann = await connected(app, { name: userId })
    const [first, second] = [await open(ann), await open(ann)]
    first.close()
    const source = app.services.connect.vault.tokenSource({ userId, bxcontext: 'harbour-homes' })
    await source.accessToken()
    let isOut = false
    await vi.waitFor(
      async () => {
        isOut = !isOut
        await source.noteCall(
          isOut
            ? { result: 'unavailable', kind: 'error' }
            : { result: 'ok', call: 'GET /leads', scope: 'leads' },
        )
        expect(second.text).toMatch(/^retry: 2000\n\n(event: changed\ndata:\n\n)+$/)
      },
      { timeout: 15_000, interval: 400 },
    )
    const others = []
    for (let count = 0; count < 7; count++) others.push(await open(ann))
    expect(second.ended).toBe(false)
  })

  test('are not opened for a browser that left before its request was handled', async () => {
    const getSnapshot = vi.fn(async () => null)
    const sendChanges = createChangeStreams(new AbortController().signal)
    const session = { session: { user: { id: 'ann' } }, sessionStore: { get: vi.fn() }, originalUrl: '/' }
    const handled = Promise.withResolvers<void>()
    const server = createServer(async (req, res) => {
      await once(res, 'close')
      sendChanges(Object.assign(req, session) as never, res as never, { getSnapshot, everyMs: 1 })
      handled.resolve()
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const request = get({ host: '127.0.0.1', port: (server.address() as AddressInfo).port })
    request.on('error', () => {})
    await once(server, 'request')
    request.destroy()
    await handled.promise
    server.close()
    expect(session.sessionStore.get).not.toHaveBeenCalled()
  })

  test('close when the store fails, so that the browser connects again, and the log says so', async () => {
    const stream = await open(await connected(app, { name: newUser() }))
    vi.spyOn(app.services.connect.vault, 'list').mockRejectedValue(new StoreUnavailableError('gone'))
    await vi.waitFor(() => expect(stream.ended).toBe(true), { timeout: 10_000 })
    expect(stream.text).not.toContain('event: done')
    expect(app.logLines.join()).toContain('live update failed')
  })

  test('end for the session that signs out, and not for the other one', async () => {
    const name = newUser()
    const [one, two] = [await signedIn(app, name), await signedIn(app, name)]
    const [first, second] = [await open(one), await open(two)]
    await one.post(`${app.url}/sign-out`)
    await vi.waitFor(() => expect(first.ended).toBe(true), { timeout: 5_000 })
    expect(first.text).toMatch(/^retry: 2000\n\n.*event: done\ndata:\n\n$/s)
    expect(second.ended).toBe(false)
  })
})
