import { createHmac, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openRedis } from '../../src/connect/store/redis.ts'
import { openSqlite } from '../../src/connect/store/sqlite.ts'
import type { Store } from '../../src/connect/store/store.ts'
import { createRecordCipher } from '../../src/connect/vault/encryption.ts'
import { createRecords } from '../../src/connect/vault/records.ts'
import { tempDir, testEnv } from '../support/app.ts'
import { freePort } from '../support/ports.ts'
import { type Program, runApp } from '../support/process.ts'
import { REDIS, withRedis } from '../support/programs.ts'
import { type RedisServer, ready, startRedis } from '../support/redis.ts'
import { startTokenEndpoint, type TokenEndpoint } from '../support/token-endpoint.ts'
import { createVisitor, type Visitor } from '../support/visitor.ts'

const MOMENTS = 50
const issued = new Set<string>()
const KEY = randomBytes(32)
const digest = (text: string) => createHmac('sha256', 'pair').update(text).digest('base64url')

const stores = [
  { name: 'SQLite', redis: false, skip: false },
  { name: `Redis${withRedis}`, redis: true, skip: !REDIS },
]

describe.each(stores)('kill -9 of the app on $name', ({ redis, skip }) => {
  const { dir, remove } = tempDir()
  let endpoint: TokenEndpoint
  let server: RedisServer | undefined
  let env: Record<string, string>
  let program: (Program & { url: string }) | undefined

  beforeAll(async () => {
    if (skip) return
    endpoint = await startTokenEndpoint()
    // The refresh token is derived from the access token, so that a record of two halves would show.
    endpoint.answers(async (res) => {
      const access = randomBytes(16).toString('hex')
      issued.add(access)
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 10))
      res.writeHead(200, { 'content-type': 'application/json' })
      res.end(JSON.stringify({ access_token: access, refresh_token: digest(access), expires_in: 300 }))
    })
    server = redis ? await startRedis() : undefined
    const port = await freePort()
    env = testEnv({
      ...{
        PORT: String(port),
        DATA_DIR: dir,
        LOG_LEVEL: 'silent',
        TOKEN_ENCRYPTION_KEYS: `k1:${KEY.toString('base64')}`,
      },
      ...{
        PLATFORM_APP_URL: endpoint.authUrl,
        PLATFORM_AUTH_URL: endpoint.authUrl,
        PLATFORM_API_URL: endpoint.authUrl,
      },
      ...(server && { REDIS_URL: server.url }),
    })
  })
  afterAll(async () => {
    if (skip) return
    await program?.kill()
    await endpoint.close()
    await server?.close()
    remove()
  })

  test.skipIf(skip)(
    `at ${MOMENTS} random moments during connects and refreshes leaves each connection whole: the old one or the new one`,
    async () => {
      const visitor = createVisitor()
      let checked = 0
      for (let moment = 0; moment < MOMENTS; moment++) {
        program = await runApp(env)
        const { url } = program
        if (moment === 0) await visitor.post(`${url}/sign-in`, { form: { name: 'ann' } })
        let alive = true
        const work = Promise.all(
          ['a', 'b', 'c'].map((context) => keepBusy(url, visitor, context, () => alive)),
        )
        await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 200))
        await program.kill()
        alive = false
        await work
        checked += await checkRecords()
      }
      expect(endpoint.requests.length).toBeGreaterThan(MOMENTS)
      expect(checked).toBeGreaterThan(MOMENTS)
    },
    180_000,
  )

  /** Connects and refreshes in one context until the app is gone. */
  async function keepBusy(
    url: string,
    visitor: Visitor,
    context: string,
    alive: () => boolean,
  ): Promise<void> {
    while (alive()) {
      try {
        await visitor.post(`${url}/connect`)
        const consent = await visitor.get(`${url}/connect/context?bxcontext=${context}`)
        const state = new URL(consent.headers.get('location') ?? '').searchParams.get('state')
        await visitor.get(`${url}/connect/callback?code=c&state=${state}`)
        await visitor.post(`${url}/connections/${context}/refresh`)
      } catch {
        // The app was killed meanwhile.
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    }
  }

  /** Reads every record as the next start would; what is there must be one whole answer of the platform. Resolves to their number. */
  async function checkRecords(): Promise<number> {
    const store: Store = server
      ? openRedis({ urls: [server.url] })
      : openSqlite({ file: join(dir, 'store.sqlite') })
    await ready(store)
    const listed = await createRecords(store, createRecordCipher([{ id: 'k1', secret: KEY }])).list('ann')
    await store.close()
    for (const entry of listed) {
      const connection = 'connection' in entry ? entry.connection : entry.unreadable
      expect(connection).toMatchObject({ status: 'active', context: entry.context })
      if (typeof connection === 'object' && connection.status === 'active') {
        expect(issued).toContain(connection.accessToken)
        expect(connection.refreshToken).toBe(digest(connection.accessToken))
      }
    }
    return listed.length
  }
})
