/** Many open pages: what an event stream costs while nothing changes, in CPU and memory. */
import { setTimeout as pause } from 'node:timers/promises'
import { Agent, request } from 'undici'
import type { RedisServer } from '../support/redis.ts'
import { consent, REF } from '../support/vault.ts'
import { signIn, startBenchApp, startYardstick } from './app.ts'
import { type Add, cpuUs, type Measured, memoryKb } from './measure.ts'

const USERS = 300
/** An app of ours accepts at most eight streams of a session. */
const SESSIONS_OF_USER = 2
const STREAMS_OF_SESSION = 5
const STREAMS = USERS * SESSIONS_OF_USER * STREAMS_OF_SESSION
/** How often the connections are read, in ms: as often as `LIVE_MS` of src/web/connections.ts says. */
const EVERY_MS = 1_000
const MEASURED_MS = 20_000

interface Cost {
  /** Microseconds of CPU for each stream and second. */
  us: number
  /** Memory of each stream, in kB. */
  kb: number
}

const userOf = (index: number) => `user-${index}`

export async function streamsBench(add: Add, redis: RedisServer): Promise<void> {
  const ours = await startBenchApp('test/bench/probe-app.ts', redis.url, { apiUrl: 'http://127.0.0.1:1' })
  for (let index = 0; index < USERS; index++)
    await consent(ours.vault, { expiresIn: 3600 }, { ...REF, userId: userOf(index) })
  const subject = await costOf(ours.url, ours.pid)
  await ours.close()
  const settings = { REDIS_URL: redis.url, EVERY_MS: String(EVERY_MS) }
  const byHand = await startYardstick('test/bench/hand-written.ts', settings)
  const yardstick = await costOf(byHand.url, byHand.child.pid)
  await byHand.kill()
  const measured = (of: keyof Cost): Measured => ({
    subject: subject[of],
    yardstick: yardstick[of],
    ratio: yardstick[of] / subject[of],
  })
  const streams = `${STREAMS} event streams of ${USERS} users`
  add(
    `${streams}, CPU of each and second`,
    'by hand in Express, a poll for each stream',
    measured('us'),
    '>= 1',
    'µs',
  )
  add(`${streams}, memory of each`, 'by hand in Express', measured('kb'), '>= 0.5', 'kB')
}

/** Opens all streams, and measures the process while nothing changes. */
async function costOf(origin: string, pid = 0): Promise<Cost> {
  const dispatcher = new Agent({ connections: null, pipelining: 1, bodyTimeout: 0 })
  const sessions: string[] = []
  for (let index = 0; index < USERS * SESSIONS_OF_USER; index++)
    sessions.push(await signIn(origin, userOf(index % USERS)))
  // What signing in has left behind is not the streams'.
  await pause(3_000)
  const beforeKb = memoryKb(pid)
  for (const cookie of sessions)
    for (let stream = 0; stream < STREAMS_OF_SESSION; stream++) {
      const { statusCode, body } = await request(`${origin}/connections/live`, {
        dispatcher,
        headers: { cookie },
      })
      if (statusCode !== 200) throw new Error(`a stream was answered with ${statusCode}`)
      body.on('error', () => {}).resume()
    }
  await pause(2 * EVERY_MS)
  const beforeUs = cpuUs(pid)
  await pause(MEASURED_MS)
  const us = (cpuUs(pid) - beforeUs) / STREAMS / (MEASURED_MS / 1000)
  const kb = (memoryKb(pid) - beforeKb) / STREAMS
  await dispatcher.destroy()
  return { us, kb }
}
