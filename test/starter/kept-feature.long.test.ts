import { join } from 'node:path'
import { onTestFinished, test } from 'vitest'
import { ROOT } from '../support/documents.ts'
import { openClone } from './clones.ts'

// The patch is what `npm run add-feature -- orders --write` made once. It is never edited: products have such features.
test('a feature that an earlier version generated compiles, imports only the entries, and passes its tests', async () => {
  const clone = openClone()
  onTestFinished(clone.remove)
  clone.git('apply', join(ROOT, 'test/starter/kept-feature.patch'))
  await clone.bin('tsc', '--singleThreaded', '--incremental', 'false')
  await clone.bin('biome', 'lint', 'src/features/orders')
  await clone.runTests('test/features/orders/', 'test/features/first-contact/comparisons.test.ts')
})
