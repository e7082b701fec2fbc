import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Connect, type ConnectionChange, createConnect, platform } from '../../src/connect/index.ts'
import { openSqlite } from '../../src/connect/store/sqlite.ts'
import type { KeyValueStore } from '../../src/connect/stores.ts'
import { createLog } from '../../src/runtime/log.ts'
import { oauthError, startTokenEndpoint, type TokenEndpoint } from '../support/token-endpoint.ts'
import { GRANTED, newKey, REF } from '../support/vault.ts'

let endpoint: TokenEndpoint
let connect: Connect
let store: KeyValueStore
let logLines: string[]
beforeEach(async () => {
  endpoint = await startTokenEndpoint()
  logLines = []
  store = openSqlite({ file: ':memory:' })
  connect = createConnect({
    store,
    keys: [newKey()],
    platform,
    client: {
      appUrl: endpoint.authUrl,
      authUrl: endpoint.authUrl,
      apiUrl: endpoint.authUrl,
      clientId: 'client',
      clientSecret: 'client secret',
      scopes: ['leads'],
      authorizePath: '/authorize',
      authorizeParams: {},
      pkce: true,
    },
    log: createLog('info', { write: (line) => void logLines.push(line) }),
  })
})
afterEach(async () => {
  await connect.close()
  await store.close()
  await endpoint.close()
})

test('closing the core leaves the store open, which another platform may share', async () => {
  await connect.close()
  await store.ping()
})

/** Tokens that have expired, so that the next call refreshes them. */
const EXPIRED = { ...GRANTED, expiresIn: 0 }

test('a listener hears of each event once, with the connection and without a token, until it is ended', async () => {
  const heard: ConnectionChange[] = []
  const stop = connect.onConnectionEvent((news) => heard.push(news))
  endpoint.answers(oauthError('invalid_grant'))
  await connect.vault.connect(REF, EXPIRED)
  await connect.vault.refresh(REF).catch(() => {})
  await connect.vault.disconnect(REF)
  await vi.waitFor(() =>
    expect(heard.map(({ type }) => type)).toEqual(['connected', 'revoked', 'disconnected']),
  )
  for (const news of heard) expect(news).toMatchObject({ ...REF, at: expect.any(Number) })
  expect(heard[1]?.reason).toEqual(expect.any(String))
  expect(JSON.stringify(heard)).not.toMatch(/access-|refresh-0/)
  stop()
  await connect.vault.connect(REF, GRANTED)
  await new Promise((resolve) => setImmediate(resolve))
  expect(heard).toHaveLength(3)
})

test.each([
  [
    'throws',
    () => {
      throw new Error('refresh-0')
    },
  ],
  ['rejects', () => Promise.reject(new Error('refresh-0'))],
  ['rejects with nothing', () => Promise.reject()],
])(
  'a listener that %s does not affect the connection, and its error is logged without its text',
  async (_name, listener) => {
    connect.onConnectionEvent(listener)
    await connect.vault.connect(REF, GRANTED)
    expect(await connect.vault.accessToken(REF)).toBe('access-0')
    await vi.waitFor(() => expect(logLines.join('')).toContain('a connection listener failed'))
    expect(logLines.join('')).not.toContain('refresh-0')
  },
)

test('a listener that takes long does not delay the connection', async () => {
  connect.onConnectionEvent(() => new Promise(() => {}))
  const startedAt = performance.now()
  await connect.vault.connect(REF, GRANTED)
  expect(performance.now() - startedAt).toBeLessThan(1_000)
})
