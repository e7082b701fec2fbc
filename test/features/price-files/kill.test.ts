import { expect, test, vi } from 'vitest'
import { createSandbox } from '../../../src/sandbox/sandbox.ts'
import { CLIENT, type Running, tempDir, testEnv } from '../../support/app.ts'
import { connected } from '../../support/flow.ts'
import { freePort, serve } from '../../support/ports.ts'
import { runApp } from '../../support/process.ts'

test('the app killed in mid-import goes on by itself when it is started again: the same items, none missing', async () => {
  const { dir, remove } = tempDir()
  const port = await freePort()
  const url = `http://localhost:${port}`
  const server = await serve()
  const platform = `http://127.0.0.1:${server.port}`
  const redirectUrls = [`${url}/connect/context`, `${url}/connect/callback`]
  const sandbox = createSandbox({
    ...{ baseUrl: platform, apps: [{ name: 'Test App', ...CLIENT, redirectUrls }], file: ':memory:' },
    ...{ rateLimit: { limit: 10, windowMs: 1_000 }, importTiming: { itemsPerSecond: 1e6, settleMs: 50 } },
  })
  server.server.on('request', sandbox.app)
  const { appUrl, authUrl, apiUrl } = sandbox.addresses
  const env = testEnv({
    ...{ PORT: String(port), BASE_URL: url, DATA_DIR: dir, PLATFORM_RATE_LIMIT: '10/1', LOG_LEVEL: 'silent' },
    ...{ PLATFORM_APP_URL: appUrl, PLATFORM_AUTH_URL: authUrl, PLATFORM_API_URL: apiUrl },
  })
  let app = await runApp(env)
  const visitor = await connected({ url, platform } as Running, {
    ...{ name: 'sam', context: 'summit-supplies', email: 'priya@summit.example' },
  })
  const json = { accept: 'application/json' }
  const at = `${url}/connections/summit-supplies`
  const form = { name: 'Killed', scope: 'Public' }
  const { id } = (await visitor.post(`${at}/catalogues`, { form, ...json })).json()
  const rows = Array.from({ length: 25_000 }, (_, row) => `C${String(row).padStart(6, '0')},${row + 1}`)
  const cookie = [...(visitor.cookies.get(new URL(url).host) ?? [])].map((pair) => pair.join('=')).join('; ')
  const body = `code,price\n${rows.join('\n')}\n`
  const headers = { ...json, cookie, 'content-type': 'text/csv' }
  const uploaded = await fetch(`${at}/catalogues/${id}/imports`, { method: 'POST', body, headers })
  const job = (await uploaded.json()) as { id: string }
  await visitor.post(`${at}/imports/${job.id}/start`, json)
  const progress = async () => (await visitor.get(`${at}/imports/${job.id}`, json)).json()
  await vi.waitFor(async () => expect((await progress()).progress?.sent).toBeGreaterThan(2_000), {
    timeout: 20_000,
  })
  await app.kill()

  app = await runApp(env)
  // Its hold on the job ends by itself; until then it only waits.
  const done = await vi.waitFor(
    async () => {
      const now = await progress()
      expect(now.state).toBe('completed')
      return now
    },
    { timeout: 50_000, interval: 200 },
  )
  expect(done).toMatchObject({ validRows: 25_000, progress: { sent: 25_000 } })
  let after = ''
  const codes = []
  for (;;) {
    const page = await fetch(`${platform}/sandbox/catalogues/${id}/items?top=5000&after=${after}`)
    const { items } = (await page.json()) as { items: { code: string }[] }
    codes.push(...items.map(({ code }) => code))
    if (items.length < 5000) break
    after = items.at(-1)?.code ?? ''
  }
  expect(codes).toEqual(rows.map((row) => row.split(',')[0]))
  await app.kill()
  await server.close()
  sandbox.close()
  remove()
}, 120_000)
