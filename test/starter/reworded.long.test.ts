import { expect, onTestFinished, test } from 'vitest'
import { openClone } from './clones.ts'
import { reword } from './reword.ts'

/** Tests that look at what people read, of features that the product of `product.long.test.ts` doesn't have. */
const TESTS = [
  'access-ended-mail/mail',
  'catalogues/pages',
  'flow-inspector/pauses',
  'supplier/builder-requests/pages',
  'supplier/catalogue-files/files',
  ...['answers', 'pages', 'upload'].map((name) => `supplier/catalogue-files/sending/${name}`),
]

test('the tests of pages, files, emails and the command keep their promises in a product with words of its own', async () => {
  const product = openClone()
  onTestFinished(() => product.remove())
  for (const texts of ['src/**/texts.ts', 'src/**/import-texts.ts']) reword(product, texts)
  expect(product.git('status', '--porcelain').split('\n')).toHaveLength(7)
  await product.runTests(...TESTS.map((test) => `test/features/${test}.test.ts`))
})
