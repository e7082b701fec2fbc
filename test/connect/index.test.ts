import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { startAll } from '../support/app.ts'
import { CLIENT } from '../support/env.ts'
import { connected } from '../support/flow.ts'
import { command } from '../support/process.ts'

test('a worker uses a connection of the app by the core alone, and refreshes its expired token', async () => {
  const app = await startAll()
  await connected(app)
  await app.sandbox('expire')
  const [key] = app.config.tokenEncryptionKeys
  const env = {
    FILE: join(app.config.dataDir, 'store.sqlite'),
    KEY: key?.secret.toString('base64') ?? '',
    PLATFORM: app.platform,
    SECRET: CLIENT.clientSecret,
    USER: 'ann',
    BXCONTEXT: 'harbour-homes',
  }
  const printed = vi.spyOn(console, 'log').mockReturnValue()
  expect(await command('test/connect/worker.ts', env, { args: ['/probe'] })).toMatchObject({ code: 0 })
  expect(printed.mock.calls).toEqual([['5 of 40 at /probe']])
  expect((await app.calls()).filter(({ endpoint }) => endpoint === 'refresh')).toHaveLength(1)
  await app.close()
})
