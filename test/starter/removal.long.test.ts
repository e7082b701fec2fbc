import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { placesOf } from '../../src/cli/removal.ts'
import { loadFeatures } from '../../src/features/load.ts'
import { openClone } from './clones.ts'

const features = await loadFeatures()

let starter: ReturnType<typeof openClone>
beforeAll(async () => {
  starter = openClone()
  await starter.checkNames()
})
afterAll(() => starter.remove())

/** A feature, and those that need it. */
function withDependents(name: string): string[] {
  const dependents = features.filter(({ needs = [] }) => needs.includes(name))
  return [name, ...dependents.flatMap((feature) => withDependents(feature.name))]
}

test.each(features.map(({ name }) => name))(
  'without the folders of %s, and of what needs it, the check and the tests that look at all features pass',
  async (name) => {
    const copy = openClone(starter.dir)
    for (const place of withDependents(name).flatMap(placesOf))
      rmSync(join(copy.dir, place), { recursive: true, force: true })
    await copy.checkNames()
    await copy.runTests(
      'test/config.test.ts',
      'test/web/openapi.test.ts',
      'test/starter/docs',
      'test/starter/needs',
    )
    copy.remove()
  },
)

test('npm run remove-feature of all features leaves a product that passes all its tests, and nothing that is unused', async () => {
  const copy = openClone()
  await copy.command('init', '--name', "O'Brien & Sons", '--yes')
  copy.commit('init')
  await copy.command('remove-feature', ...features.map(({ name }) => name))
  expect(copy.read('package.json')).not.toMatch(/saxes|yauzl|prom-client|csv-parse|doctor/)
  expect(copy.read('package.json')).toMatch(/"express"[\s\S]*"redis"[\s\S]*"zod"/)
  expect(await copy.bin('knip', '--no-config-hints')).toBe('')
  await copy.check()
  await copy.runTests()
  copy.remove()
})
