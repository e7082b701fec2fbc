import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'
import { isOfStarter } from '../../src/cli/removal.ts'
import { featureFolders, groupsOf, nameOf } from '../../src/features/folders.ts'
import { loadFeatures } from '../../src/features/load.ts'
import { files, read } from '../support/documents.ts'

const features = await loadFeatures()
const names = features.map(({ name }) => name)
const folders = features.map(({ folder }) => folder)
const PLACES = ['src', 'src/sandbox', 'test', 'test/sandbox'].map((place) => `${place}/features`)

/** The files that a file imports. */
const importsOf = (file: string) =>
  [...read(file).matchAll(/(?:from |import\(|import )\s*'(\.[^']+)'/g)].map(([, target = '']) =>
    normalize(join(dirname(file), target)),
  )

/** The path of a feature's file, or the path that corresponds to a file of its sandbox part. */
const ofApp = (file: string) => file.replace('src/sandbox/', 'src/')

/** The first of these folders that contains a path. */
const inOneOf = (of: readonly string[], path: string) =>
  of.find((folder) => PLACES.some((place) => path.startsWith(`${place}/${folder}/`)))
const featureOf = (path: string) => features.find(({ folder }) => folder === inOneOf(folders, path))
const groupOf = (path: string) => inOneOf(groupsOf(folders), path)

// So each feature and each group can be deleted: what remains does not refer to it.
test('no file imports a feature, but for those of the feature and of the features that say they need it; no file outside a group imports it', () => {
  const wrong = files('{src,test}/**/*.ts').flatMap((file) => {
    const own = featureOf(file)
    const isAllowed = (target: string) => {
      const feature = featureOf(target)
      const isKnown = !feature || feature === own || (own?.needs ?? []).includes(feature.name)
      return isKnown && [undefined, groupOf(file)].includes(groupOf(target))
    }
    return importsOf(file)
      .filter((target) => !isAllowed(target))
      .map((target) => `${file} imports ${target}`)
  })
  expect(wrong).toEqual([])
})

// `npm run init` deletes the starter's own tests, and the remaining files must compile without them.
test('no test that a product keeps imports one of the starter', () => {
  const kept = files('test/**/*.ts').filter((file) => !isOfStarter(file))
  const wrong = kept.filter((file) => importsOf(file).some(isOfStarter))
  expect(kept.length).toBeGreaterThan(50)
  expect(wrong).toEqual([])
})

test('what is simulated belongs to a feature, or to the features of its group, and no name is given twice', () => {
  for (const folder of featureFolders(files('src/sandbox/features/**/index.ts').map(ofApp)))
    if (groupOf(`src/features/${folder}/`) === undefined) expect(names).toContain(nameOf(folder))
  expect(new Set(names).size).toBe(names.length)
})
