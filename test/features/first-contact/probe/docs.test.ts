import { expect, test } from 'vitest'
import { probePage } from '../../../../src/cli/docs.ts'
import { read } from '../../../support/documents.ts'

test('docs/probe.md has what `npm run docs` writes', async () => {
  // Where a feature has been cut out, blank lines may be left.
  const plain = (text: string) => text.replace(/\n{3,}/g, '\n\n').trim()
  const page = read('docs/probe.md')
  expect(plain(page)).toBe(plain(await probePage(page)))
})
