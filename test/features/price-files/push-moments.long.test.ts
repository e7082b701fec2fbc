import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { expectResumes, fileIn, GOOD, pushed } from './push-support.ts'
import { type SupplierPlatform, startPlatform } from './support.ts'

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
  test.each([
    ['checked the file', 'Checked'],
    ['created the catalogue', 'Created catalogue "'],
    ['sent all of them', 'All sent'],
  ])('after it has %s: the same items, none twice, none missing', (_name, words) =>
    expectResumes(platform, words),
  )
})
