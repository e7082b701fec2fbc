/**
 * A process with its own vault. From the message `work` until the message `stop` it requests one access token after the other, and
 * then replies with the tokens and the errors.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { platform, Vault } from '../../src/connect/index.ts'
import { openRedis, openSqlite } from '../../src/connect/stores.ts'
import { ready } from '../support/redis.ts'
import { oauthFor, REF } from '../support/vault.ts'

export type Message = 'work' | 'stop'
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

let isWorking = false
process.on('message', async (message: Message) => {
  isWorking = message === 'work'
  if (!isWorking) return
  const tokens = new Set<string>()
  const errors: string[] = []
  for (; isWorking; await pause(20)) {
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
