/** Real processes on real stores, killed and stopped while they send. */
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { texts } from '../../../../../src/features/supplier/catalogue-files/import-texts.ts'
import { addressesOf } from '../../../../../src/sandbox/platform.ts'
import { CLIENT, testEnv } from '../../../../support/env.ts'
import { connected } from '../../../../support/flow.ts'
import { STORES } from '../../../../support/kill.ts'
import { freePort } from '../../../../support/ports.ts'
import { runApp } from '../../../../support/process.ts'
import { REDIS, withRedis } from '../../../../support/programs.ts'
import { startRedis } from '../../../../support/redis.ts'
import { startPlatform } from '../../first-party/support.ts'
import { itemsNamed, printed, push, pushed } from './push-support.ts'
import { FAST, fileOf, itemAt, itemsIn, openPages, SAM, waitingFor } from './support.ts'

const ITEMS = 20_000
const EXPECTED = Array.from({ length: ITEMS }, (_, at) => itemAt(at, 3))
/** Compares text, because comparing so many objects would take longer than the import. */
const textOf = (items: Iterable<object>) =>
  [...items]
    .map((item) => JSON.stringify(item, ['code', 'price', 'name']))
    .sort()
    .join('\n')

/** An app that can be killed and started again, on a platform that accepts 8 requests in a second, with a file that waits. */
async function openApp(redis: boolean) {
  const port = await freePort()
  const url = `http://localhost:${port}`
  const redirectUrls = [`${url}/connect/context`, `${url}/connect/callback`]
  const platform = await startPlatform({
    features: FAST,
    apps: [{ name: 'Test App', ...CLIENT, redirectUrls }],
    rateLimit: { limit: 8, windowMs: 1_000 },
  })
  onTestFinished(platform.close)
  const server = redis ? await startRedis() : undefined
  onTestFinished(async () => server?.close())
  const { appUrl, authUrl, apiUrl } = addressesOf(platform.url)
  const env = testEnv({
    PORT: String(port),
    BASE_URL: url,
    DATA_DIR: platform.dir,
    LOG_LEVEL: 'silent',
    PLATFORM_APP_URL: appUrl,
    PLATFORM_AUTH_URL: authUrl,
    PLATFORM_API_URL: apiUrl,
    ...(server && { REDIS_URL: server.url }),
  })
  const start = async (more: Record<string, string> = {}) => {
    const app = await runApp({ ...env, ...more })
    onTestFinished(async () => void (await app.kill()))
    const ready = async () => expect((await fetch(`${app.url}/health/ready`)).status).toBe(200)
    await vi.waitFor(ready, { timeout: 60_000 })
    return app
  }
  const app = await start()
  const visitor = await connected({ url, platform: platform.url }, SAM)
  const pages = await openPages({ url, platform: platform.url }, visitor)
  const to = await pages.newCatalogue('Killed')
  expect(await pages.check(to, fileOf(ITEMS, 3))).toMatchObject({ state: 'ready' })
  const sent = async () => (await itemsIn(platform.url, to)).size
  return {
    app,
    start,
    server,
    platform,
    pages,
    to,
    send: () => pages.send(to),
    /** Resolves when the platform has this many items. */
    has: (items: number) =>
      vi.waitFor(async () => expect(await sent()).toBeGreaterThanOrEqual(items), {
        timeout: 120_000,
        interval: 50,
      }),
    /** Expects that the import is completed, with exactly the file's items. */
    async expectCompleted() {
      const { sent } = await vi.waitFor(
        async () => {
          const job = await pages.json(to)
          expect(job.state).toBe('completed')
          return job
        },
        { timeout: 180_000, interval: 200 },
      )
      expect(sent).toBe(ITEMS)
      expect(textOf((await itemsIn(platform.url, to)).values()) === textOf(EXPECTED)).toBe(true)
    },
  }
}

describe.each(STORES)('on $name, 20,000 items', ({ redis, skip }) => {
  test.skipIf(skip)(
    'arrive, none lost and none wrong, although the process that sends is killed three times: another goes on within 20 s',
    async () => {
      const world = await openApp(redis)
      const other = await world.start({ PORT: String(await freePort()) })
      await world.send()
      await world.has(1_000)
      const before = (await world.platform.statusesOf('items')).length
      await world.app.kill()
      await vi.waitFor(
        async () => expect((await world.platform.statusesOf('items')).length).toBeGreaterThan(before + 1),
        { timeout: 20_000, interval: 100 },
      )
      const third = await world.start()
      await world.has(9_000)
      await pause(Math.random() * 200)
      await other.kill()
      await world.has(14_000)
      await third.kill()
      await world.start()
      await world.expectCompleted()
      // The next file is compared with the items that the catalogue received.
      const { difference } = await world.pages.check(world.to, fileOf(ITEMS, 3))
      expect(difference.counts).toMatchObject({ same: ITEMS, added: 0, gone: 0 })
    },
  )
})

test.skipIf(!REDIS)(`an import survives a Redis outage of 8 s${withRedis}`, async () => {
  const world = await openApp(true)
  await world.send()
  await world.has(2_000)
  await world.server?.kill()
  await pause(8_000)
  await world.server?.start()
  await world.expectCompleted()
})

describe('push-catalogue', () => {
  const to = ['--catalogue', 'C', '--scope', 'Public']

  test('killed at a random moment and run again sends exactly the items of the file', async () => {
    const platform = await startPlatform({ features: FAST, rateLimit: { limit: 20, windowMs: 1_000 } })
    onTestFinished(platform.close)
    const args = [platform.write(fileOf(ITEMS, 3)), ...to]
    const program = push(platform, args)
    await printed(program, texts.sending.sending)
    await pause(Math.random() * 500)
    expect(await program.kill()).toBe('SIGKILL')
    // The killed process's lease expires.
    await pause(11_000)
    const { code, output } = await pushed(platform, args)
    expect(code, output).toBe(0)
    expect(textOf((await itemsNamed(platform, 'C')).values()) === textOf(EXPECTED)).toBe(true)
  })

  test('that finds another run into its catalogue is refused, and two runs at once create the catalogue once', async () => {
    const platform = await startPlatform({ features: FAST })
    onTestFinished(platform.close)
    const args = [platform.write(fileOf(3)), ...to]
    const both = await Promise.all([1, 2].map(() => pushed(platform, args)))
    expect(both.map(({ code }) => code)).toContain(0)
    await platform.fault('items', '429', undefined, 1)
    const first = push(platform, args)
    await printed(first, waitingFor('busy'))
    const second = await pushed(platform, args)
    expect(second).toMatchObject({
      code: 1,
      output: expect.stringContaining(texts.errors.otherRunning),
    })
    await platform.fault('items', 'none')
    expect(await first.exited, first.output()).toBe(0)
  })

  test.each([
    ['rejects a token twice', 'items', 'expired', 2, 0],
    ['rejects every token', 'items', 'expired', 100, 1],
    ['forbids uploads', 'items', 'forbidden', 1, 1],
    ['fails the import', 'import', 'failed', 1, 1],
    ['fails before the import', 'catalogues', '500', 4, 0],
  ])(
    'ends with 0 only if the platform has all items, and prints no key and no token, when it %s',
    async (_name, endpoint, fault, times, expected) => {
      const platform = await startPlatform({ features: FAST })
      onTestFinished(platform.close)
      await platform.fault(endpoint, fault, times)
      const { code, output } = await pushed(platform, [platform.write(fileOf(3)), ...to])
      expect(code, output).toBe(expected)
      expect(output).not.toMatch(/sandbox-(api|subscription)-key|fp_|bearer/i)
      if (code === 0)
        expect([...(await itemsNamed(platform, 'C')).values()]).toEqual([0, 1, 2].map((at) => itemAt(at)))
      else expect(output).not.toContain('Completed')
    },
  )
})
