import { expect, onTestFinished, test } from 'vitest'
import { openClone } from './clones.ts'
import { reword } from './reword.ts'

/** The supplier's tests that look at what people read. */
const TESTS = [
  'builder-requests/pages',
  'catalogue-files/files',
  ...['answers', 'pages', 'upload'].map((name) => `catalogue-files/sending/${name}`),
]

test('the tests of the supplier’s pages, files and command keep their promises in a product with words of its own', async () => {
  const product = openClone()
  onTestFinished(() => product.remove())
  for (const texts of [
    'src/web/texts.ts',
    'src/features/catalogues/texts.ts',
    'src/features/supplier/*texts.ts',
  ])
    reword(product, texts)
  expect(product.git('status', '--porcelain').split('\n')).toHaveLength(5)
  await product.runTests(...TESTS.map((test) => `test/features/supplier/${test}.test.ts`))
})
