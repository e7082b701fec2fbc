/** The cost of a user with 5,000 connections, compared with a user with 25: the polls, the page, and the wait of other users. */
import { Agent, request } from 'undici'
import type { Vault } from '../../src/connect/index.ts'
import { consent } from '../support/vault.ts'
import { createVisitor } from '../support/visitor.ts'
import { startBenchApp } from './app.ts'
import { type Add, compare, type Measured, medianOf } from './measure.ts'

const USERS = { few: 25, many: 5_000 }
/** The users whose wait is measured. */
const OTHERS = ['other-1', 'other-2']
const POLLS = 20
const ROUNDS = 5
const ROUND_MS = 2_000
/** How many accounts are connected at the same time. */
const WRITERS = 50

const dispatcher = new Agent({ connections: 128 })

/** `redisUrl`: null for the embedded store. */
export async function benchManyConnections(add: Add, redisUrl: string | null): Promise<void> {
  const app = await startBenchApp('test/bench/probe-app.ts', redisUrl, { apiUrl: 'http://127.0.0.1:1' })
  const on = redisUrl ? 'Redis' : 'SQLite'
  for (const [userId, count] of Object.entries(USERS)) await connectAll(app.vault, userId, count)
  for (const userId of OTHERS) await connectAll(app.vault, userId, USERS.few)
  const { pid } = app
  const [few, many] = [await openPage(app.url, 'few'), await openPage(app.url, 'many')]
  const others = await Promise.all(OTHERS.map((name) => openPage(app.url, name)))

  const rounds: Measured[] = []
  for (let round = 0; round <= ROUNDS; round++) {
    const [subject, yardstick] = [await waitBeside(many.poll, others), await waitBeside(few.poll, others)]
    // The process is slower until its code is optimised.
    if (round > 0) rounds.push({ subject, yardstick, ratio: subject / yardstick })
  }
  const beside = `, ${on}, beside 20 polls of a user with`
  add(
    `p95 of two users' pages${beside} 5,000 connections`,
    'beside one with 25',
    medianOf(rounds),
    '<= 1.2x',
    'ms',
  )
  const polls = await compare(POLLS, { call: many.poll, pid }, { call: few.poll, pid })
  add(`poll of a page of 5,000 connections, ${on}, 20 callers`, 'of 25', polls, '>= 0.9')
  const pages = await compare(4, { call: many.page, pid }, { call: few.page, pid })
  add(`page of 5,000 connections, ${on}, 4 callers`, 'of 25', pages, '>= 0.67')
  await app.close()
}

async function connectAll(vault: Vault, userId: string, count: number): Promise<void> {
  for (let from = 0; from < count; from += WRITERS) {
    const ids = Array.from({ length: Math.min(WRITERS, count - from) }, (_, i) => `business-${from + i}`)
    await Promise.all(ids.map((bxcontext) => consent(vault, { expiresIn: 36_000 }, { userId, bxcontext })))
  }
}

/** Signs in and opens the page. Resolves to functions that open it again, and that ask for its version as `live.js` does. */
async function openPage(origin: string, name: string) {
  const visitor = createVisitor()
  await visitor.post(`${origin}/sign-in`, { form: { name } })
  const { text } = await visitor.get(`${origin}/connections`)
  const live = /data-live="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&')
  if (live === undefined) throw new Error(`the page of ${name} does not poll`)
  const cookies = [...(visitor.cookies.get(new URL(origin).host) ?? [])]
  const headers = { cookie: cookies.map((pair) => pair.join('=')).join('; '), accept: 'text/html' }
  const get = (path: string) => async () => {
    const { statusCode, body } = await request(origin + path, { dispatcher, headers })
    const answer = await body.text()
    if (statusCode !== 200) throw new Error(`${path}: ${statusCode} ${answer}`)
  }
  return { page: get('/connections'), poll: get(live) }
}

/** How long other users wait for their pages while a user polls, in ms (95th percentile). */
async function waitBeside(poll: () => Promise<void>, others: { page(): Promise<void> }[]): Promise<number> {
  const until = performance.now() + ROUND_MS
  const times: number[] = []
  const repeat = async (work: () => Promise<unknown>) => {
    while (performance.now() < until) await work()
  }
  const timed = async (page: () => Promise<void>) => {
    const startedAt = performance.now()
    await page()
    times.push(performance.now() - startedAt)
  }
  await Promise.all([
    ...Array.from({ length: POLLS }, () => repeat(poll)),
    ...others.map(({ page }) => repeat(() => timed(page))),
  ])
  times.sort((a, b) => a - b)
  return times[Math.floor(times.length * 0.95)] ?? Number.NaN
}
