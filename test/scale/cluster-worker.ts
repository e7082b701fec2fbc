/** A process of `npm run scale -- cluster`: callers that ask the vault for tokens without a pause. */
import { setTimeout as pause } from 'node:timers/promises'
import { pino } from 'pino'
import { platform, Vault } from '../../src/connect/index.ts'
import { openRedis } from '../../src/connect/stores.ts'
import { ready } from '../support/redis.ts'
import { oauthFor } from '../support/vault.ts'

const { REDIS_URLS = '', KEY = '', AUTH_URL = '', CALLERS = '', CONNECTIONS = '' } = process.env
const store = await ready(await openRedis({ urls: REDIS_URLS.split(',') }))
const vault = new Vault({
  platform,
  store,
  keys: [{ id: 'k1', secret: Buffer.from(KEY, 'base64') }],
  oauth: oauthFor(AUTH_URL),
  log: pino({ level: 'silent' }),
})
const calls = { ok: 0, failed: 0 }
/** When the first and the last call failed, in ms since 1970. */
let failures: [first: number, last: number] | undefined
const codes = new Map<string, number>()
let running = true

async function caller(first: number): Promise<void> {
  for (let turn = first; running; turn++) {
    const index = turn % Number(CONNECTIONS)
    try {
      await vault.accessToken({ userId: `user-${index}`, bxcontext: 'ctx' })
      calls.ok++
    } catch (error) {
      calls.failed++
      const code = String((error as { code?: unknown }).code)
      codes.set(code, (codes.get(code) ?? 0) + 1)
      failures = [failures?.[0] ?? Date.now(), Date.now()]
    }
    await pause(20)
  }
}

const callers = Array.from({ length: Number(CALLERS) }, (_, index) => caller(index * 7))
process.on('message', async () => {
  running = false
  await Promise.all(callers)
  process.send?.({ ...calls, failures, codes: Object.fromEntries(codes) })
})
