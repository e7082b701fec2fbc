import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { platform, Vault } from '../../../src/connect/index.ts'
import { openSqlite } from '../../../src/connect/stores.ts'
import { createLog } from '../../../src/runtime/log.ts'
import { tempDir, testEnv } from '../../support/env.ts'
import { freePort } from '../../support/ports.ts'
import { runApp } from '../../support/process.ts'
import { startTokenEndpoint } from '../../support/token-endpoint.ts'
import { consent, newKey, oauthFor } from '../../support/vault.ts'

const USERS = 30

test.skipIf(!process.env.LONG_TESTS)(
  'a round whose process is killed is continued by another one: no connection is missed',
  async () => {
    const { dir, remove } = tempDir()
    const endpoint = await startTokenEndpoint()
    const key = newKey()
    const store = openSqlite({ file: `${dir}/store.sqlite` })
    const earlier = () => Date.now() - 3_600_000
    const oauth = oauthFor(endpoint.authUrl)
    const vault = new Vault({ platform, store, keys: [key], oauth, log: createLog('silent'), now: earlier })
    for (let user = 0; user < USERS; user++)
      await consent(vault, { refreshToken: `of ${user}` }, { userId: `user ${user}`, bxcontext: 'ctx' })
    await store.close()
    const settings = testEnv({
      DATA_DIR: dir,
      PLATFORM_APP_URL: endpoint.authUrl,
      PLATFORM_AUTH_URL: endpoint.authUrl,
      PLATFORM_API_URL: endpoint.authUrl,
      TOKEN_ENCRYPTION_KEYS: `${key.id}:${key.secret.toString('base64')}`,
      CHECK_CONNECTIONS_EVERY: '1m',
    })
    const first = await runApp({ ...settings, PORT: String(await freePort()) })
    await pause(5_000)
    const second = await runApp({ ...settings, PORT: String(await freePort()) })
    await first.kill('SIGKILL')
    const before = endpoint.requests.length
    expect(before).toBeGreaterThan(0)
    expect(before).toBeLessThan(USERS)
    const refreshed = () => new Set(endpoint.requests.map(({ refresh_token }) => refresh_token)).size
    await expect.poll(refreshed, { timeout: 70_000 }).toBe(USERS)
    await second.kill()
    await endpoint.close()
    remove()
  },
)
