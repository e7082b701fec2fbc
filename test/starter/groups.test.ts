import { basename, dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'
import { isBelow, isOfStarter, needsIn, placesOf, placesOfAll } from '../../src/cli/removal.ts'
import { featureFolders, groupOf, groupsOf, nameOf } from '../../src/features/folders.ts'
import { loadFeatures } from '../../src/features/load.ts'
import { variablesOf } from '../../src/settings/read.ts'
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
const groupAt = (path: string) => inOneOf(groupsOf(folders), path)

// So each feature and each group can be deleted: what remains does not refer to it.
test('no file imports a feature, but for those of the feature and of the features that say they need it; no file outside a group imports it', () => {
  const wrong = files('{src,test}/**/*.ts').flatMap((file) => {
    const own = featureOf(file)
    const isAllowed = (target: string) => {
      const feature = featureOf(target)
      const isKnown = !feature || feature === own || (own?.needs ?? []).includes(feature.name)
      return isKnown && [undefined, groupAt(file)].includes(groupAt(target))
    }
    return importsOf(file)
      .filter((target) => !isAllowed(target))
      .map((target) => `${file} imports ${target}`)
  })
  expect(wrong).toEqual([])
})

test('an update reads in the text of each feature which features it needs', () => {
  for (const { folder, needs = [] } of features)
    expect(needsIn(read(`src/features/${folder}/index.ts`)), folder).toEqual(needs)
  expect(features.flatMap(({ needs = [] }) => needs)).toContain('connection-checks')
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
    if (groupAt(`src/features/${folder}/`) === undefined) expect(names).toContain(nameOf(folder))
  expect(new Set(names).size).toBe(names.length)
})

const filesOf = (...folders: string[]) => folders.map((folder) => `src/features/${folder}/index.ts`)

test('a folder with an index.ts is a feature, also in a group; an index.ts inside a feature is a file like any other', () => {
  const paths = [...filesOf('leads', 'leads/list', 'supply/prices'), 'src/features/supply/tables/csv.ts']
  expect(featureFolders(paths)).toEqual(['leads', 'supply/prices'])
})

test('what is common to a group goes with the last of its features', () => {
  const folders = ['leads', 'supply/prices', 'supply/stock']
  expect(placesOfAll(folders, ['prices'])).not.toContain('src/features/supply')
  expect(placesOfAll(folders, ['prices', 'stock'])).toEqual(
    expect.arrayContaining(['src/features/supply', 'docs/supply', 'src/features/supply/prices']),
  )
})

/** Files that test or describe the starter with all its features, or are generated from its features. */
const EXEMPT =
  /^(test\/(starter|real|bench|gallery)\/|docs\/(assumptions|demo|specification)\.md|CHANGELOG\.md|package-lock\.json)/
const TEXTS = '**/*.{ts,cjs,js,css,eta,md,json,yaml,yml,grit}'

/** The names of a group's features, commands of two words (the others follow the feature's name), and settings. */
function namesOf(group: string): string[] {
  const members = features.filter(({ folder }) => groupOf(folder) === group)
  const commands = members
    .flatMap(({ folder }) => files(`src/features/${folder}/cli-*.ts`))
    .map((file) => basename(file, '.ts').replace('cli-', ''))
  const settings = members
    .flatMap((member) => member.settings?.({}) ?? [])
    .flatMap((fields) => variablesOf(fields).map(([variable]) => variable))
  return [...members.map(({ name }) => name), ...commands.filter((name) => name.includes('-')), ...settings]
}

// So you can delete a group without traces in the rest of the project.
test('no file outside a group names one of its features, commands or settings', () => {
  const texts = [
    ...files(`{src,views,test,docs,.github}/${TEXTS}`),
    ...files('{*.{md,json,yaml},Dockerfile,.ci/run}'),
  ].filter((file) => !EXEMPT.test(file))
  const wrong = groupsOf(folders).flatMap((group) => {
    const names = namesOf(group).map((name) => ({ name, word: new RegExp(`(?<![\\w-])${name}(?![\\w-])`) }))
    names.push({ name: `a folder of ${group}`, word: new RegExp(`features/${group}/`) })
    const places = features
      .filter(({ folder }) => groupOf(folder) === group)
      .flatMap(({ name }) => placesOf(name, [group]))
      .concat(placesOf(group, []))
    return texts
      .filter((file) => !isBelow(file, places))
      .flatMap((file) => {
        const text = read(file)
        return names.filter(({ word }) => word.test(text)).map(({ name }) => `${file}: ${name}`)
      })
  })
  expect(wrong).toEqual([])
})
