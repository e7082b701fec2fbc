import { afterEach, beforeEach, expect, test } from 'vitest'
import { loadFeatures } from '../../src/features/load.ts'
import { openCopy } from './removal-support.ts'

const features = await loadFeatures()

let copy: ReturnType<typeof openCopy>
beforeEach(() => {
  copy = openCopy()
})
afterEach(() => copy.remove())

test('npm run remove-feature removes all features at once, and leaves a project that works', async () => {
  await copy.removeFeatures(...features.map(({ name }) => name))
  await copy.check()
  copy.leaveOutIndependentTests()
  await copy.runTests()
  expect(await copy.connectInDemo()).toContain('The account is connected.')
  expect(await copy.removeFeatures()).toContain('All features are removed.')
})
