import { createHmac, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { expect, vi } from 'vitest'
import { openRedis, openSqlite } from '../../src/connect/stores.ts'
import { tempDir, testEnv } from './env.ts'
import { freePort } from './ports.ts'
import { type Program, runApp } from './process.ts'
import { REDIS, withRedis } from './programs.ts'
import { ready, startRedis } from './redis.ts'
import { recordKey, storedTokens } from './stored.ts'
import { startTokenEndpoint } from './token-endpoint.ts'
import { createVisitor, type Visitor } from './visitor.ts'

export const STORES = [
  { name: 'SQLite', redis: false, skip: false },
  { name: `Redis${withRedis}`, redis: true, skip: !REDIS },
]

const digest = (text: string) => createHmac('sha256', 'pair').update(text).digest('base64url')

export type KillSetup = Awaited<ReturnType<typeof killSetup>>

/**
 * The app as a separate process (`start`) that tests kill, and its platform. The platform derives each refresh token from the
 * access token, so a test notices a record that mixes two answers. `answering` runs before each answer.
 */
export async function killSetup({ redis, answering }: { redis: boolean; answering(): Promise<void> }) {
  const { dir, remove } = tempDir()
  const issued = new Set<string>()
  const secret = randomBytes(32)
  const endpoint = await startTokenEndpoint()
  endpoint.answers(async (res) => {
    const access = randomBytes(16).toString('hex')
    issued.add(access)
    await answering()
    res.writeHead(200, { 'content-type': 'application/json' })
    res.end(JSON.stringify({ access_token: access, refresh_token: digest(access), expires_in: 300 }))
  })
  const server = redis ? await startRedis() : undefined
  const port = await freePort()
  const url = `http://localhost:${port}`
  const env = testEnv({
    PORT: String(port),
    DATA_DIR: dir,
    LOG_LEVEL: 'silent',
    TOKEN_ENCRYPTION_KEYS: `k1:${secret.toString('base64')}`,
    PLATFORM_APP_URL: endpoint.authUrl,
    PLATFORM_AUTH_URL: endpoint.authUrl,
    PLATFORM_API_URL: endpoint.authUrl,
    ...(server && { REDIS_URL: server.url }),
  })
  const visitor: Visitor = createVisitor()
  let program: Program | undefined

  return {
    url,
    visitor,
    redisPort: server?.port,
    requests: endpoint.requests,
    /** Starts the app; `extra` overrides settings. */
    async start(extra: Record<string, string> = {}): Promise<Program> {
      program = await runApp({ ...env, ...extra })
      await vi.waitFor(async () => expect((await fetch(`${url}/health/ready`)).status).toBe(200), 5_000)
      if (visitor.cookies.size === 0) await visitor.post(`${url}/sign-in`, { form: { name: 'ann' } })
      return program
    },
    /** The whole connect flow; the platform's pages are skipped. */
    async connect(bxcontext: string): Promise<void> {
      await visitor.post(`${url}/connect`)
      const consent = await visitor.get(`${url}/connect/context?bxcontext=${bxcontext}`)
      const state = new URL(consent.headers.get('location') ?? '').searchParams.get('state')
      await visitor.get(`${url}/connect/callback?code=c&state=${state}`)
    },
    refresh: (bxcontext: string) => visitor.post(`${url}/connections/${bxcontext}/refresh`),
    /**
     * Reads every record as the app does after its next start. Each record must match a single answer of the platform. Resolves to
     * the access tokens by bxcontext.
     */
    async checkRecords(): Promise<Map<string, string>> {
      const store = server
        ? await openRedis({ urls: [server.url] })
        : openSqlite({ file: join(dir, 'store.sqlite') })
      await ready(store)
      const found = new Map<string, string>()
      for (const { key } of await store.list(recordKey().kind, 'ann')) {
        const ref = { userId: 'ann', bxcontext: key.id }
        const { accessToken = '', refreshToken } =
          (await storedTokens(store, [{ id: 'k1', secret }], ref)) ?? {}
        expect(issued).toContain(accessToken)
        expect(refreshToken).toBe(digest(accessToken))
        found.set(ref.bxcontext, accessToken)
      }
      await store.close()
      return found
    },
    async close(): Promise<void> {
      await program?.kill()
      await endpoint.close()
      await server?.close()
      remove()
    },
  }
}
