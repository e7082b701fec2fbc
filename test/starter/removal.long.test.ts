import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { features } from '../../src/features/index.ts'
import { openCopy } from './removal-support.ts'

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
const COMMON = ['run', 'test/config', 'test/layout', 'test/starter/docs', 'test/starter/needs']

test.each(features.map(({ name }) => name))(
  'npm run remove-feature removes %s and what needs it, and leaves a project that works',
  async (name) => {
    await copy.removeFeatures(name, '--with-dependents')
    expect(existsSync(join(copy.dir, 'src/features', name))).toBe(false)
    // The command itself formats what it changes.
    await copy.checkTypes()
    await copy.bin('knip')
    await copy.runTests(...COMMON)
  },
)
