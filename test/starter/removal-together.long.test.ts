import { afterEach, beforeEach, expect, test } from 'vitest'
import { features } from '../../src/features/index.ts'
import { openCopy } from './removal-support.ts'

let copy: ReturnType<typeof openCopy>
beforeEach(() => {
  copy = openCopy()
})
afterEach(() => copy.remove())

/** Those that import a list of features. Pages are tested without a browser, and attacks do not depend on it. */
const AFFECTED = ['related', 'src/features/index.ts', 'src/sandbox/features/index.ts'].concat(
  ['connect/**', 'app/**', 'e2e/**', '**/browser.test.ts', '**/hostile-*.test.ts', '**/secrets.test.ts'].map(
    (pattern) => `--exclude=test/${pattern}`,
  ),
)

test('npm run remove-feature removes half of the features, and the tests of the others keep passing', async () => {
  const removable = features.filter(({ name }) => !features.some(({ needs = [] }) => needs.includes(name)))
  for (const { name } of removable.slice(0, features.length / 2)) await copy.removeFeatures(name)
  await copy.runTests(...AFFECTED)
})

test('npm run remove-feature removes all features at once, and leaves a project that works', async () => {
  await copy.removeFeatures(...features.map(({ name }) => name))
  await copy.check()
  await copy.runTests()
  expect(await copy.connectInDemo()).toContain('The account is connected.')
  expect(await copy.removeFeatures()).toContain('All features are removed.')
})
