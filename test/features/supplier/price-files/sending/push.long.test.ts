import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { itemsOfRows, priceFile, type SupplierPlatform, startPlatform } from '../support.ts'
import { AS_CHOSEN, accepted, endTurns, GOOD, printed, push, pushed } from './push-support.ts'
import { CHOICE } from './service-support.ts'

const TO_NEW = ['--catalogue', 'C', '--scope', 'Public']

let platform: SupplierPlatform
let args: string[]
beforeEach(async () => {
  platform = await startPlatform()
  args = await accepted(platform, [platform.write(GOOD), ...TO_NEW, ...AS_CHOSEN])
})
afterEach(() => platform.close())

describe('push-catalogue', () => {
  test('also waits for a platform that fails before the import', async () => {
    await platform.fault('catalogues', '500', 4)
    const { code, output } = await pushed(platform, args)
    expect(output).toContain('Retrying: the API answered 500')
    expect(code).toBe(0)
  })

  test.each(['SIGINT', 'SIGKILL'] as const)(
    'ended by %s remembers what was sent, and sends the whole file when it is run again',
    async (end) => {
      const path = platform.write(
        `code,price\n${Array.from({ length: 2_500 }, (_, row) => `C${row},1`).join('\n')}\n`,
      )
      const long = [path, ...TO_NEW, ...AS_CHOSEN]
      const stopped = push(platform, await accepted(platform, long))
      await printed(stopped, 'Sent 2,000 of')
      stopped.child.kill(end)
      await stopped.exited
      if (end === 'SIGINT') expect(stopped.output()).toContain('Run the command again')
      else await endTurns(platform.dir)
      const again = await pushed(platform, await accepted(platform, long))
      expect(again.output).toMatch(
        /The last import was not finished[\s\S]*are the same[\s\S]*Completed: 2,500 items/,
      )
      expect(again.code).toBe(0)
      expect((await pushed(platform, [path, ...TO_NEW])).output).toMatch(
        /2,500 prices are the same[\s\S]*Starting the import/,
      )
    },
  )

  test.each([
    ['rejects a token twice', 'items', 'expired', 'The platform rejected the request'],
    ['forbids uploads', 'items', 'forbidden', 'The API key is not allowed to do this (403)'],
    ['forbids catalogues', 'catalogues', 'forbidden', 'The API key is not allowed to do this (403)'],
    ['fails the import', 'import', 'failed', 'could not complete'],
    ['answers a login with garbage', 'login', 'garbage', 'Completed'],
  ])('prints no key and no token when the platform %s', async (_name, endpoint, fault, words) => {
    await platform.fault(endpoint, fault, endpoint === 'login' ? 1 : 2)
    const { code, output } = await pushed(platform, args)
    // 0 only if the platform has completed the import.
    expect(code).toBe(words === 'Completed' ? 0 : 1)
    expect(output).toContain(words)
    expect(output.includes('Completed: ')).toBe(words === 'Completed')
    expect(output).not.toMatch(/sandbox-(api|subscription)-key|fp_|bearer/i)
  })

  test('that finds another run into its catalogue is refused, and sends nothing', async () => {
    await platform.fault('items', '429', undefined, 1)
    const first = push(platform, args)
    await printed(first, 'tries again automatically')
    for (const to of [TO_NEW, ['--catalogue-id', (await platform.catalogueIds()).get('C') ?? '']]) {
      const second = [platform.write(GOOD, 'second.csv'), ...to, ...AS_CHOSEN]
      const { code, output } = await pushed(platform, await accepted(platform, second))
      expect(code).toBe(1)
      expect(output).toContain('Something else is being sent into this catalogue')
    }
    await platform.fault('items', 'none')
    expect(await first.exited, first.output()).toBe(0)
  })

  test('of two runs at once creates the catalogue once', async () => {
    const both = await Promise.all([1, 2].map(() => push(platform, args).exited))
    expect(both).toContain(0)
    // It would say that there are several.
    const { code, output } = await pushed(platform, [platform.write(GOOD), ...TO_NEW])
    expect(code, output).toBe(0)
  })
})

const ROWS = 12_000

test('push-catalogue killed at four random moments and run again: the same items, none twice, none missing', async () => {
  const path = platform.write(priceFile(ROWS))
  const uses = ['code', 'name', 'unit', 'category', 'price']
  const columns = uses.map((use, at) => ({ heading: use, number: at + 1, use }))
  const choice = JSON.stringify({ ...CHOICE, columns })
  // As text: a comparison of so many objects would take longer than the import.
  const text = (items: Iterable<object>) =>
    JSON.stringify([...items], ['code', 'name', 'unit', 'category', 'price'])
  const expected = text(itemsOfRows(ROWS).values())
  let interrupted = 0
  const round = async (number: number) => {
    const to = [path, '--catalogue', `C${number}`, '--scope', 'Public', '--choice', choice]
    const env = { DATA_DIR: join(platform.dir, `data-${number}`) }
    const killed = push(platform, await accepted(platform, to, env), env)
    // The first anywhere from its start on, the others while they send or shortly after.
    const sending = number > 0
    if (sending) await printed(killed, 'Starting the import')
    await setTimeout(Math.random() * (sending ? 600 : 1500))
    if ((await killed.kill()) === 'SIGKILL' && sending) interrupted++
    await endTurns(env.DATA_DIR)
    const again = await pushed(platform, await accepted(platform, to, env), env)
    expect(again.code, again.output).toBe(0)
    const found = await platform.items((await platform.catalogueIds()).get(`C${number}`) ?? '')
    expect(text(found.values()) === expected, `${found.size} items`).toBe(true)
  }
  await Promise.all([0, 1, 2, 3].map(round))
  expect(interrupted).toBeGreaterThan(0)
})
