import { expect, test, vi } from 'vitest'
import type { Running } from '../../support/app.ts'
import { connectDemo, openDemo } from '../../support/demo.ts'
import { freePort } from '../../support/ports.ts'
import { runApp } from '../../support/process.ts'
import { createVisitor } from '../../support/visitor.ts'
import { fingerprintIn, latestFlow, latestRefresh, stepsOf } from './support.ts'

test('the same secret has the same fingerprint in every process, and a flow is visible in all of them', async () => {
  const demo = await openDemo()
  await demo.start()
  const ann = createVisitor()
  await connectDemo(ann, demo)

  const port = String(await freePort())
  const addresses = {
    PLATFORM_APP_URL: demo.platform,
    PLATFORM_AUTH_URL: `${demo.platform}/auth`,
    PLATFORM_API_URL: `${demo.platform}/api`,
    PLATFORM_CLIENT_ID: 'sandbox-client',
    PLATFORM_CLIENT_SECRET: 'sandbox-client-secret',
  }
  const second = await runApp({ ...addresses, PORT: port, BASE_URL: demo.app, DATA_DIR: demo.dir })
  const session = ann.cookies.get(new URL(demo.app).host)
  ann.cookies.set(new URL(second.url).host, new Map(session))

  // The first process connected the account; the second one refreshes its token.
  const refreshed = await ann.post(`${second.url}/connections/ridgeline-build/refresh`)
  expect(refreshed.headers.get('location')).toBe('/connections')
  const [one, two] = [{ url: demo.app }, { url: second.url }] as [Running, Running]
  const connect = await latestFlow(two, ann, 'connect')
  const issued = fingerprintIn(stepsOf(connect, 'code_exchange')[0]?.response?.parameters, 'refresh_token')
  expect(issued).toMatch(/^refresh_token:\d+:[\da-f]{6}$/)
  // The other process writes its steps in the background.
  await vi.waitFor(async () => {
    const [sent] = stepsOf(await latestRefresh(one, ann), 'token_refresh')
    expect(fingerprintIn(sent?.request?.parameters, 'refresh_token')).toBe(issued)
  })
  await second.kill()
  await demo.close()
})
