import { expect, test } from 'vitest'
import { placesOfAll } from '../../src/cli/removal.ts'
import { featureFolders } from '../../src/features/folders.ts'

const filesOf = (...folders: string[]) => folders.map((folder) => `src/features/${folder}/index.ts`)

test('a folder with an index.ts is a feature, also in a group; an index.ts inside a feature is a file like any other', () => {
  const files = [...filesOf('leads', 'leads/list', 'supply/prices'), 'src/features/supply/tables/csv.ts']
  expect(featureFolders(files)).toEqual(['leads', 'supply/prices'])
})

test('what is common to a group goes with the last of its features', () => {
  const folders = ['leads', 'supply/prices', 'supply/stock']
  expect(placesOfAll(folders, ['prices'])).not.toContain('src/features/supply')
  expect(placesOfAll(folders, ['prices', 'stock'])).toEqual(
    expect.arrayContaining(['src/features/supply', 'docs/supply', 'src/features/supply/prices']),
  )
})
