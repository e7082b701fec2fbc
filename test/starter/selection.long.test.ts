import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished, test } from 'vitest'
import { placesOfAll } from '../../src/cli/removal.ts'
import { loadFeatures } from '../../src/features/load.ts'
import { openClone } from './clones.ts'

const features = await loadFeatures()

/** These features, and those that need them. */
function withDependents(names: readonly string[]): string[] {
  const dependents = features.filter(({ needs = [] }) => needs.some((need) => names.includes(need)))
  const all = [...new Set([...names, ...dependents.map(({ name }) => name)])]
  return all.length === names.length ? all : withDependents(all)
}

// No file refers to a feature that it may be without (needs.test.ts), so that one selection stands for all. The removal of all
// of them, by the command, is in product.long.test.ts.
test('without the folders of every second feature, deleted by hand, the check and the tests that look at all features pass', async () => {
  const clone = openClone()
  onTestFinished(clone.remove)
  const chosen = features.filter((_, index) => index % 2 === 0).map(({ name }) => name)
  for (const place of placesOfAll(
    features.map(({ folder }) => folder),
    withDependents(chosen),
  ))
    rmSync(join(clone.dir, place), { recursive: true, force: true })
  await clone.check()
  await clone.runTests('test/config.test.ts', 'test/web/openapi', 'test/starter/docs', 'test/starter/needs')
})
