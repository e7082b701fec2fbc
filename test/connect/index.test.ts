import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startAll } from '../support/app.ts'
import { CLIENT } from '../support/env.ts'
import { connected } from '../support/flow.ts'
import { run } from '../support/process.ts'

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
  const worker = run('test/connect/worker.ts', env, { args: ['/probe'] })
  expect(await worker.exited, worker.output()).toBe(0)
  expect(worker.output()).toMatch(/^5 of 40 at \/probe$/m)
  expect((await app.calls()).filter(({ endpoint }) => endpoint === 'refresh')).toHaveLength(1)
  await app.close()
})
