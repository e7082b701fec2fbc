import { expect, test } from 'vitest'
import { createHttp } from '../../../src/connect/index.ts'
import { openSqlite } from '../../../src/connect/stores.ts'
import { createDispatcher } from '../../../src/features/connection-webhooks/dispatcher.ts'
import { OUTBOX_OWNER } from '../../../src/features/connection-webhooks/outbox.ts'
import { createLog } from '../../../src/runtime/log.ts'
import { tempDir, testEnv } from '../../support/env.ts'
import { freePort, serve } from '../../support/ports.ts'
import { type Program, runApp } from '../../support/process.ts'

test.skipIf(!process.env.LONG_TESTS)(
  'a webhook whose sender is killed before the answer is sent again by another process, with the same id',
  async () => {
    const { dir, remove } = tempDir()
    const apps: Program[] = []
    const ids: string[] = []
    const receiver = await serve(async (req, res) => {
      ids.push(String(req.headers['webhook-id']))
      if (ids.length === 1) return void (await apps[0]?.kill('SIGKILL'))
      res.end()
    })
    const nowhere = 'http://127.0.0.1:9'
    const settings = testEnv({
      DATA_DIR: dir,
      PLATFORM_APP_URL: nowhere,
      PLATFORM_AUTH_URL: nowhere,
      PLATFORM_API_URL: nowhere,
      CONNECTION_WEBHOOK_URL: `http://127.0.0.1:${receiver.port}`,
      CONNECTION_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 'k').toString('base64')}`,
    })
    const start = async () => void apps.push(await runApp({ ...settings, PORT: String(await freePort()) }))
    await start()
    await start()
    const store = openSqlite({ file: `${dir}/store.sqlite` })
    const outside = createDispatcher({
      store,
      http: createHttp(),
      log: createLog('silent'),
      url: nowhere,
      secrets: [],
    })
    await outside.add({ type: 'revoked', userId: 'ann', bxcontext: 'ctx', at: Date.now() })
    await expect.poll(() => ids.length).toBe(1)
    await expect.poll(() => ids.length).toBe(2)
    expect(ids[0]).toBe(ids[1])
    await expect.poll(async () => (await store.list('webhook-delivery', OUTBOX_OWNER)).length).toBe(0)
    await store.close()
    await Promise.all(apps.map((app) => app.kill()))
    await receiver.close()
    remove()
  },
)
