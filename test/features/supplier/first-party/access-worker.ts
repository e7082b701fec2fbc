/** A process with first-party access: for each message, calls the API that many times at once and replies with the tokens. */
import { openSqlite } from '../../../../src/connect/stores.ts'
import { listTenants } from '../../../../src/features/supplier/first-party/first-party.ts'
import { openAccess } from './support.ts'

const { API_URL = '', FILE = '', KEY = '' } = process.env
const { api, source } = openAccess(API_URL, {
  store: openSqlite({ file: FILE }),
  keys: [{ id: 'k1', secret: Buffer.from(KEY, 'base64') }],
})

process.on('message', async (callers: number) => {
  const calls = Array.from({ length: callers }, async () => {
    await listTenants(api, source)
    return source.accessToken()
  })
  const results = await Promise.allSettled(calls)
  process.send?.(
    results.map((result) => (result.status === 'fulfilled' ? result.value : String(result.reason))),
  )
})

process.send?.('ready')
