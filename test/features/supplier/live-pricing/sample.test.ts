import { expect, onTestFinished, test } from 'vitest'
import { startAll } from '../../../support/app.ts'

const isReady = async (url: string) => (await fetch(`${url}/live-pricing/health/ready`)).ok

test('with the sandbox, an app without a price list begins with the sample prices', async () => {
  const app = await startAll()
  onTestFinished(app.close)
  expect(await isReady(app.url)).toBe(false)
  for (const part of app.services.parts) part.start?.()
  await expect.poll(() => isReady(app.url)).toBe(true)
  expect(app.logLines.join()).not.toContain('price list')
})

test('with a platform, an app without a price list logs the command that loads it, and has no prices', async () => {
  const app = await startAll({ SANDBOX_URL: '' })
  onTestFinished(app.close)
  for (const part of app.services.parts) part.start?.()
  await expect.poll(() => app.logLines.join()).toContain('load-prices')
  expect(await isReady(app.url)).toBe(false)
})
