import { setTimeout } from 'node:timers/promises'
import { describe, test } from 'vitest'
import { freePort } from '../../../../support/ports.ts'
import { REDIS, withRedis } from '../../../../support/programs.ts'
import { startRedis } from '../../../../support/redis.ts'
import { startImport } from './kill-support.ts'

describe.skipIf(!process.env.LONG_TESTS)('an import in progress', () => {
  test.skipIf(!REDIS).concurrent(`survives a Redis outage of 8 s${withRedis}`, async () => {
    const redis = await startRedis()
    const running = await startImport({ REDIS_URL: redis.url })
    await redis.kill()
    await setTimeout(8_000)
    await redis.start()
    await running.expectCompleted(60_000)
    await running.expectReported()
    await running.app.kill()
    await running.close()
    await redis.close()
  })

  test.concurrent.each([['SQLite'], ['Redis']])(
    'whose process dies is taken over by another one, on %s',
    async (store) => {
      if (store === 'Redis' && !REDIS) return
      const redis = store === 'Redis' ? await startRedis() : undefined
      const running = await startImport(redis && { REDIS_URL: redis.url })
      const other = await running.startAnother({ PORT: String(await freePort()) })
      await running.app.kill()
      await running.expectCompleted(60_000)
      await other.kill()
      await running.close()
      await redis?.close()
    },
  )
})
