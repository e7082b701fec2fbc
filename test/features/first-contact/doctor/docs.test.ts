import { expect, test } from 'vitest'
import { all, codeIn, files, read, rows } from '../../../support/documents.ts'

test('docs/doctor.md has every finding of the doctor, and no other', () => {
  const sources = [
    ...files('src/features/first-contact/{doctor/*,cli-doctor}.ts'),
    ...files('src/features/*/check.ts'),
  ]
  const ids = sources.flatMap((file) => [
    ...all(read(file), /'([a-z-]+\.[a-z-]+)'/g),
    ...all(read(file), /(?:failure|warning)\('([a-z-]+)'/g),
  ])
  const documented = rows(read('docs/doctor.md'), 'Finding').flatMap(([id]) => codeIn(id))
  expect(documented.toSorted()).toEqual([...new Set(ids)].sort())
})
