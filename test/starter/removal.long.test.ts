import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { placesOf } from '../../src/cli/removal.ts'
import { loadFeatures } from '../../src/features/load.ts'
import { openClone } from './clones.ts'

const features = await loadFeatures()
const NAMES = features.map(({ name }) => name)

let starter: ReturnType<typeof openClone>
beforeAll(async () => {
  starter = openClone()
  await starter.checkTypes()
})
afterEach(() => void starter.git('checkout', '-q', '.'))
afterAll(() => starter.remove())

/** These features, and those that need them. */
function withDependents(names: readonly string[]): string[] {
  const dependents = features.filter(({ needs = [] }) => needs.some((need) => names.includes(need)))
  const all = [...new Set([...names, ...dependents.map(({ name }) => name)])]
  return all.length === names.length ? all : withDependents(all)
}

/** Deletes the folders of features, and of those that need them, as one does by hand. */
function deleteFolders(...names: string[]): void {
  for (const place of withDependents(names).flatMap(placesOf))
    rmSync(join(starter.dir, place), { recursive: true, force: true })
}

test.each(NAMES)('without the folders of %s, and of what needs it, the rest compiles', async (name) => {
  deleteFolders(name)
  await starter.checkTypes()
})

// Each feature is absent from one of the first two, and most are present in the other one.
test.each([
  ['every second feature', NAMES.filter((_, index) => index % 2 === 0)],
  ['the others', NAMES.filter((_, index) => index % 2 === 1)],
  ['all features', NAMES],
])('without the folders of %s, the check and the tests that look at all features pass', async (_, names) => {
  deleteFolders(...names)
  await starter.check()
  await starter.runTests(
    'test/config.test.ts',
    'test/web/openapi.test.ts',
    'test/starter/docs',
    'test/starter/needs',
  )
})

test('npm run remove-feature of all features leaves a product that passes all its tests, and nothing that is unused', async () => {
  const copy = openClone()
  await copy.command('init', '--name', "O'Brien & Sons", '--yes')
  copy.commit('init')
  await copy.command('remove-feature', ...NAMES)
  expect(copy.read('package.json')).not.toMatch(/saxes|yauzl|prom-client|csv-parse|doctor/)
  expect(copy.read('package.json')).toMatch(/"express"[\s\S]*"redis"[\s\S]*"zod"/)
  expect(await copy.bin('knip', '--no-config-hints')).toBe('')
  await copy.check()
  await copy.runTests()
  copy.remove()
})
