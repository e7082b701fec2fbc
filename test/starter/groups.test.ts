import { expect, test } from 'vitest'
import { withoutGoneFolders } from '../../src/cli/docs.ts'
import { placesOfAll } from '../../src/cli/removal.ts'
import { selectFiles } from '../../src/cli/update-selection.ts'
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

test('a feature that a product has deleted stays deleted when the starter moves it into a group, with what the group shares', () => {
  const base = filesOf('leads', 'prices')
  const shared = ['src/features/supply/tables/csv.ts', 'docs/supply/README.md', 'docs/supply/prices.md']
  const theirs = [...filesOf('leads', 'supply/prices'), ...shared]
  const { isLeftOut, newFeatures } = selectFiles({ base, theirs, ours: filesOf('leads') }, [])
  expect(newFeatures).toEqual([])
  expect(theirs.filter((file) => !isLeftOut(file))).toEqual(filesOf('leads'))
  // Who has kept it gets all of it, but what was deleted of it.
  const bench = 'test/features/prices/bench/index.ts'
  const moved = 'test/features/supply/prices/bench/index.ts'
  const kept = selectFiles({ base: [...base, bench], theirs: [...theirs, moved], ours: base }, [])
  expect([...theirs, moved].filter((file) => kept.isLeftOut(file))).toEqual([moved])
})

test('the README has no row of a feature or a group whose folder is gone', () => {
  const rows = '| `src/features` | All |\n'
  expect(withoutGoneFolders(`${rows}| \`src/features/gone\` | Gone |\n`)).toBe(rows)
})
