import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { fileIn, GOOD, printed, push, pushed } from './push-support.ts'
import { itemsOfRows, type SupplierPlatform, startPlatform, writePriceFile } from './support.ts'

const TO_NEW = ['--catalogue', 'C', '--scope', 'Public']

let platform: SupplierPlatform
beforeEach(async () => {
  platform = await startPlatform()
})
afterEach(() => platform.close())

describe('push-catalogue', () => {
  test('run twice at once for the first time creates the catalogue once, under its trimmed name', async () => {
    const path = fileIn(platform, GOOD)
    const both = ['Twice', ' Twice '].map((name) =>
      pushed(platform, [path, '--catalogue', name, '--scope', 'Public']),
    )
    expect((await Promise.all(both)).map(({ code }) => code)).toEqual([0, 0])
    const created = (await platform.calls()).filter(({ status }) => status === 201)
    // One catalogue, as the lookup by name below shows, and one import, which both resume, or two if one came late.
    expect([2, 3]).toContain(created.length)
    expect((await pushed(platform, [path, '--catalogue', 'Twice'])).code).toBe(0)
  })
})

describe('push-catalogue that is killed and run again', () => {
  const rows = 4_000

  test.each([
    ['checked the file', 'Checked'],
    ['created the catalogue', 'Created catalogue "'],
    ['sent all of them', 'All sent'],
  ])('after it has %s: the same items, none twice, none missing', async (_name, words) => {
    const killed = push(platform, [await writePriceFile(platform.dir, rows), ...TO_NEW])
    await printed(killed, words)
    expect(await killed.kill()).toBe('SIGKILL')
    const again = await pushed(platform, [join(platform.dir, `prices-${rows}.csv`), ...TO_NEW])
    expect(again.code, again.output).toBe(0)
    const id = (await platform.catalogueIds()).get('C') ?? ''
    const found = await platform.items(id)
    // As text: a comparison of so many objects would take longer than the import.
    const text = (items: Iterable<object>) =>
      JSON.stringify([...items], ['code', 'name', 'unit', 'category', 'price'])
    expect(text(found.values()) === text(itemsOfRows(rows).values()), `${found.size} items`).toBe(true)
    expect((await platform.calls()).filter(({ endpoint }) => endpoint === 'login').length).toBeLessThan(3)
  })
})
