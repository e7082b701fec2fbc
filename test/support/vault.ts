import { randomBytes } from 'node:crypto'
import { createHttp } from '../../src/connect/platform/http.ts'
import { createOAuth } from '../../src/connect/platform/oauth.ts'
import { openSqlite } from '../../src/connect/store/sqlite.ts'
import type { Store } from '../../src/connect/store/store.ts'
import type { EncryptionKey } from '../../src/connect/vault/encryption.ts'
import { createVault, type VaultOptions } from '../../src/connect/vault/vault.ts'
import { createLog } from '../../src/runtime/log.ts'
import { startTokenEndpoint } from './token-endpoint.ts'

export const newKey = (id = 'k1'): EncryptionKey => ({ id, secret: randomBytes(32) })
/** Tokens as the code exchange gives them; the access token ends after five minutes. */
export const GRANTED = {
  accessToken: 'access-0',
  refreshToken: 'refresh-0',
  expiresIn: 300,
  scopes: ['catalogues', 'leads'],
}

/** Requests wait for their answer as long as in production, unless `answerMs` says otherwise. */
export function oauthFor(authUrl: string, { answerMs = 32_000 }: { answerMs?: number } = {}) {
  const http = createHttp({ answerMs, deadlineMs: answerMs + 8_000 })
  return createOAuth({
    ...{ appUrl: authUrl, authUrl, clientId: 'client', clientSecret: 'client secret', http },
    ...{ scopes: ['catalogues', 'leads'], authorizePath: '/authorize', authorizeParams: {}, pkce: true },
  })
}

/** A vault with a store, a scripted token endpoint and a clock that only `later` moves. */
export async function vaultSetup(options: Partial<VaultOptions> & { store?: Store; answerMs?: number } = {}) {
  const endpoint = await startTokenEndpoint()
  let time = Date.now()
  const now = () => time
  const store = options.store ?? openSqlite({ file: ':memory:', now })
  const logLines: string[] = []
  const oauth = oauthFor(endpoint.authUrl, options)
  const settings = {
    ...{ store, keys: [newKey()], oauth, now },
    log: createLog('info', { write: (line) => void logLines.push(line) }),
    ...options,
  }
  return {
    ...{ endpoint, store, logLines, oauth, vault: createVault(settings) },
    /** Another process's vault on the same store. */
    anotherVault: (other: Partial<VaultOptions> = {}) => createVault({ ...settings, ...other }),
    /** Lets `seconds` pass. */
    later: (seconds: number) => {
      time += seconds * 1000
    },
    close: async () => {
      await endpoint.close()
      await store.close()
    },
  }
}
export type VaultSetup = Awaited<ReturnType<typeof vaultSetup>>
