import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { features } from '../../src/features/index.ts'
import { openCopy } from './removal-support.ts'

let copy: ReturnType<typeof openCopy>
beforeEach(() => {
  copy = openCopy()
})
afterEach(() => copy.remove())

/** The tests of what all features have in common. `removal-together.long.test.ts` runs more. */
const COMMON = ['run', 'test/config', 'test/layout', 'test/starter/docs', 'test/starter/needs']

test.each(features.map(({ name }) => name))(
  'npm run remove-feature removes %s and what needs it, and leaves a project that works',
  async (name) => {
    await copy.removeFeatures(name, '--with-dependents')
    expect(existsSync(join(copy.dir, 'src/features', name))).toBe(false)
    // The command itself formats what it changes.
    await copy.bin('tsc', '--noEmit')
    await copy.bin('knip')
    await copy.runTests(...COMMON)
  },
)
