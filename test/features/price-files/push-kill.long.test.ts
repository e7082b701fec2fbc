import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { printed, push } from './push-support.ts'
import { itemsOfRows, startPlatform, writePriceFile } from './support.ts'

const ROWS = 12_000

describe.skipIf(!process.env.LONG_TESTS)('push-catalogue', () => {
  test('killed at four random moments and run again: the same items, none twice, none missing', async () => {
    const platform = await startPlatform()
    const path = await writePriceFile(platform.dir, ROWS)
    // As text: a comparison of so many objects would take longer than the import.
    const text = (items: Iterable<object>) =>
      JSON.stringify([...items], ['code', 'name', 'unit', 'category', 'price'])
    const expected = text(itemsOfRows(ROWS).values())
    let interrupted = 0
    const round = async (number: number) => {
      const args = [path, '--catalogue', `C${number}`, '--scope', 'Public']
      const env = { DATA_DIR: join(platform.dir, `data-${number}`) }
      const killed = push(platform, args, env)
      // A quarter anywhere from its start on, the others while it sends or shortly after.
      const sending = number % 4 > 0
      if (sending) await printed(killed, 'Starting import')
      await setTimeout(Math.random() * (sending ? 600 : 1500))
      if ((await killed.kill()) === 'SIGKILL' && sending) interrupted++
      const again = push(platform, args, env)
      expect(await again.exited, again.output()).toBe(0)
      const id = (await platform.catalogueIds()).get(`C${number}`) ?? ''
      const found = await platform.items(id)
      expect(text(found.values()) === expected, `${found.size} items`).toBe(true)
    }
    await Promise.all([0, 1, 2, 3].map(round))
    expect(interrupted).toBeGreaterThan(0)
    await platform.close()
  })
})
