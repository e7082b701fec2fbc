/**
 * A process with its own vault. For a message `{ callMs }` it requests one access token after the other for that long, and
 * replies with the tokens and the errors.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { platform, Vault } from '../../src/connect/index.ts'
import { openRedis, openSqlite } from '../../src/connect/stores.ts'
import { ready } from '../support/redis.ts'
import { oauthFor, REF } from '../support/vault.ts'

export interface Work {
  callMs: number
}
export interface Done {
  tokens: string[]
  errors: string[]
}

const { STORE = '', AUTH_URL = '', KEY = '' } = process.env
const store = STORE.startsWith('redis:') ? await openRedis({ urls: [STORE] }) : openSqlite({ file: STORE })
const vault = new Vault({
  platform,
  store,
  oauth: oauthFor(AUTH_URL),
  keys: [{ id: 'k1', secret: Buffer.from(KEY, 'base64') }],
})

process.on('message', async ({ callMs }: Work) => {
  const tokens = new Set<string>()
  const errors: string[] = []
  for (const end = performance.now() + callMs; performance.now() < end; await pause(20)) {
    try {
      tokens.add(await vault.accessToken(REF))
    } catch (error) {
      errors.push(String(error))
    }
  }
  process.send?.({ tokens: [...tokens], errors })
})

await ready(store)
process.send?.('ready')
