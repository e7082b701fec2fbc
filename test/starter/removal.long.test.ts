import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { openProject } from '../../src/cli/project.ts'
import { removeFeatures } from '../../src/cli/removal.ts'
import { loadFeatures } from '../../src/features/load.ts'
import { openCopy } from './removal-support.ts'

const features = await loadFeatures()

let original: ReturnType<typeof openCopy>
let copy: ReturnType<typeof openCopy>
beforeAll(async () => {
  original = openCopy()
  await original.checkTypes()
})
afterAll(() => original.remove())
beforeEach(() => {
  copy = openCopy(original.dir)
})
afterEach(() => copy.remove())

/** The tests of what all features have in common. `own.long.test.ts` and `removal-together.long.test.ts` run more. */
const COMMON = ['test/starter/docs', 'test/starter/needs']

/** A feature, and those that need it. */
function withDependents(name: string): string[] {
  const dependents = features.filter(({ needs = [] }) => needs.includes(name))
  return [name, ...dependents.flatMap((feature) => withDependents(feature.name))]
}

// The command itself is tested in remove-feature.test.ts and own.long.test.ts: how it formats, and what it notes for knip.
test.each(features.map(({ name }) => name))(
  'without %s and what needs it, the project compiles, keeps no file or package in vain, and passes its tests',
  async (name) => {
    removeFeatures(openProject(copy.dir), [...new Set(withDependents(name))])
    expect(existsSync(join(copy.dir, 'src/features', name))).toBe(false)
    await copy.program('src/cli/docs.ts')
    await copy.checkTypes()
    await copy.bin('knip', '--exclude', 'exports,types')
    await copy.runTests(...COMMON)
  },
)
