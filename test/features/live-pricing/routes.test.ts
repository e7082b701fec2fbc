import { afterEach, expect, test, vi } from 'vitest'
import { type Running, startAll } from '../../support/app.ts'

let app: Running
afterEach(() => app.close())

test('the letter case of an address makes no route of its own in the log, whose routes label figures', async () => {
  app = await startAll({ LIVE_PRICING_CLIENTS: 'platform:secret-of-the-platform' })
  for (const base of ['live-pricing', 'LIVE-pricing', 'live-PRICING'])
    expect((await fetch(`${app.url}/${base}/openapi.json`)).status).toBe(200)
  const routes = () =>
    app.logLines
      .map((line): { route?: string } => JSON.parse(line))
      .flatMap(({ route }) => (route?.includes('openapi') ? [route] : []))
  await vi.waitFor(() => expect(routes()).toHaveLength(3))
  expect(new Set(routes()).size).toBe(1)
})
