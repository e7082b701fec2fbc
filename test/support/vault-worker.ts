/**
 * A process with its own vault. For a message `{ callers, aheadMs }` it requests that many access tokens at once, by a clock that
 * is ahead; for `{ callMs }` it requests one after the other for that long. It replies with the tokens and the errors.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { platform, Vault } from '../../src/connect/index.ts'
import { openRedis, openSqlite } from '../../src/connect/stores.ts'
import { ready } from './redis.ts'
import { oauthFor, REF } from './vault.ts'

export type Work = { callers: number; aheadMs?: number } | { callMs: number }
export interface Done {
  tokens: string[]
  errors: string[]
}

const { STORE = '', AUTH_URL = '', KEY = '' } = process.env
const store = STORE.startsWith('redis:') ? await openRedis({ urls: [STORE] }) : openSqlite({ file: STORE })
let aheadMs = 0
const vault = new Vault({
  platform,
  store,
  oauth: oauthFor(AUTH_URL),
  keys: [{ id: 'k1', secret: Buffer.from(KEY, 'base64') }],
  now: () => Date.now() + aheadMs,
})

process.on('message', async (work: Work) => {
  const tokens = new Set<string>()
  const errors: string[] = []
  const call = async () => {
    try {
      tokens.add(await vault.accessToken(REF))
    } catch (error) {
      errors.push(String(error))
    }
  }
  if ('callers' in work) {
    aheadMs = work.aheadMs ?? 0
    await Promise.all(Array.from({ length: work.callers }, call))
  } else {
    for (const end = performance.now() + work.callMs; performance.now() < end; await pause(20)) await call()
  }
  process.send?.({ tokens: [...tokens], errors })
})

await ready(store)
process.send?.('ready')
