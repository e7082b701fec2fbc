import { expect, test, vi } from 'vitest'
import { OUTBOX_OWNER } from '../../../src/features/connection-webhooks/outbox.ts'
import { startAll } from '../../support/app.ts'
import { serve } from '../../support/ports.ts'
import { GRANTED } from '../../support/vault.ts'

test.skipIf(!process.env.LONG_TESTS)(
  'a receiver may take 8 s to answer, as the documentation says',
  async () => {
    let received = 0
    let answered = 0
    const receiver = await serve((req, res) => {
      received++
      req.resume()
      setTimeout(() => {
        answered++
        res.writeHead(204).end()
      }, 8_000)
    })
    const app = await startAll({
      CONNECTION_WEBHOOK_URL: `http://127.0.0.1:${receiver.port}/hook`,
      CONNECTION_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
    })
    for (const part of app.services.parts) part.start?.()
    await app.services.connect.vault.connect({ userId: 'ann', bxcontext: 'b' }, GRANTED)
    await vi.waitFor(() => expect(answered).toBe(1), { timeout: 30_000 })
    await vi.waitFor(async () =>
      expect(await app.services.store.list('webhook-delivery', OUTBOX_OWNER)).toEqual([]),
    )
    expect(received).toBe(1)
    expect(app.logLines.join()).not.toContain('webhook_failed')
    await app.close()
    await receiver.close()
  },
)
