/** A process with its own vault: for each message, requests that many access tokens at once and replies with the results. */

import { platform, Vault } from '../../src/connect/index.ts'
import { openRedis } from '../../src/connect/stores.ts'
import { createLog } from '../../src/runtime/log.ts'
import { ready } from './redis.ts'
import { oauthFor, REF } from './vault.ts'

const { REDIS_URL = '', AUTH_URL = '', KEY = '' } = process.env
const store = await openRedis({ urls: [REDIS_URL] })
const vault = new Vault({
  platform,
  store,
  oauth: oauthFor(AUTH_URL),
  log: createLog('silent'),
  keys: [{ id: 'k1', secret: Buffer.from(KEY, 'base64') }],
})

process.on('message', async (callers: number) => {
  const calls = Array.from({ length: callers }, () => vault.accessToken(REF))
  const results = await Promise.allSettled(calls)
  process.send?.(
    results.map((result) => (result.status === 'fulfilled' ? result.value : String(result.reason))),
  )
})

await ready(store)
process.send?.('ready')
