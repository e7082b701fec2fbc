import { expect, test } from 'vitest'
import { all, codeIn, files, read, rows } from '../../support/documents.ts'

test('the documents have every finding of the doctor and of the features’ checks, and no other', () => {
  const pages = ['start-page', 'consent']
  const sources = [...files('src/features/setup/**/*.ts'), ...files('src/features/{*,*/*}/check.ts')]
  const ids = sources.flatMap((file) => [
    ...all(read(file), /'([a-z-]+\.(?!ts'|json')[a-z-]+)'/g),
    ...all(read(file), /`\$\{(?:page\.)?id\}\.([a-z-]+)`/g).flatMap((end) =>
      pages.map((page) => `${page}.${end}`),
    ),
    ...all(read(file), /(?:failure|warning)\('([a-z-]+)'/g),
    ...all(read(file), /id: '([a-z-]+)', status: '(?:failure|warning)'/g),
  ])
  const documented = files('docs/{*,*/*}.md').flatMap((doc) =>
    rows(read(doc), 'Finding').flatMap(([id]) => codeIn(id)),
  )
  expect(documented.toSorted()).toEqual([...new Set(ids)].sort())
})
