import { expect, onTestFinished, test } from 'vitest'
import { platform, Vault } from '../../../src/connect/index.ts'
import { openSqlite } from '../../../src/connect/stores.ts'
import { tempDir, testEnv } from '../../support/env.ts'
import { freePort } from '../../support/ports.ts'
import { runApp } from '../../support/process.ts'
import { oauthError, startTokenEndpoint } from '../../support/token-endpoint.ts'
import { consent, newKey, oauthFor } from '../../support/vault.ts'
import { startMailServer } from './mail-server.ts'

const USERS = Array.from({ length: 12 }, (_, index) => `user-${index}`)

test.skipIf(!process.env.LONG_TESTS)(
  'if a process is killed while it sends mails and another one goes on, each user gets one mail or none',
  async () => {
    const { dir, remove } = tempDir()
    const [endpoint, server] = [await startTokenEndpoint(), await startMailServer()]
    const key = newKey()
    const store = openSqlite({ file: `${dir}/store.sqlite` })
    const oauth = oauthFor(endpoint.authUrl)
    const vaultAgo = (ms: number) =>
      new Vault({ platform, store, keys: [key], oauth, now: () => Date.now() - ms })
    const vault = vaultAgo(3_600_000)
    for (const userId of USERS) await consent(vault, {}, { userId, bxcontext: 'ctx' })
    endpoint.answers(oauthError('invalid_grant'))
    // Refused two minutes ago. An email is sent only after the platform has refused access again, at least a minute later.
    const refusing = vaultAgo(120_000)
    for (const userId of USERS)
      await expect(refusing.refresh({ userId, bxcontext: 'ctx' })).rejects.toMatchObject({
        code: 'connection_revoked',
      })
    const settings = testEnv({
      ...server.env,
      DATA_DIR: dir,
      PLATFORM_APP_URL: endpoint.authUrl,
      PLATFORM_AUTH_URL: endpoint.authUrl,
      PLATFORM_API_URL: endpoint.authUrl,
      TOKEN_ENCRYPTION_KEYS: `${key.id}:${key.secret.toString('base64')}`,
      CHECK_CONNECTIONS_EVERY: '1m',
    })
    const start = async () => runApp({ ...settings, PORT: String(await freePort()) })
    onTestFinished(async () => {
      await Promise.all([server.close(), endpoint.close(), store.close()])
      remove()
    })
    const first = await start()
    await expect.poll(() => server.mails.length, { timeout: 90_000 }).toBeGreaterThan(1)
    await first.kill('SIGKILL')
    const second = await start()
    const tokens = () =>
      Promise.all(USERS.map(async (userId) => (await vault.find({ userId, bxcontext: 'ctx' }))?.tokens))
    await expect.poll(tokens, { timeout: 240_000 }).toEqual(USERS.map(() => null))
    await second.kill()
    const recipients = server.mails.flatMap(({ to }) => to)
    expect(new Set(recipients).size).toBe(recipients.length)
    // Only an email that was being sent when the process was killed may be lost.
    expect(recipients.length).toBeGreaterThanOrEqual(USERS.length - 1)
  },
)
