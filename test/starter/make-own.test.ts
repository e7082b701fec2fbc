import { expect, test } from 'vitest'
import { slugOf } from '../../src/cli/make-own.ts'

test.each([
  ['Acme Link', 'acme-link'],
  ['Söhne Links', 'sohne-links'],
  ['Crème (AU) 2.0', 'creme-au-2-0'],
])('the name %s makes the package %s', (name, slug) => {
  expect(slugOf(name)).toBe(slug)
})
