import { existsSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'
import { loadFeatures } from '../../src/features/load.ts'
import { loadSandboxFeatures } from '../../src/sandbox/load.ts'
import { files, ROOT, read } from '../support/documents.ts'

const features = await loadFeatures()
const names = features.map(({ name }) => name)

/** The files that a file imports. */
const importsOf = (file: string) =>
  [...read(file).matchAll(/(?:from |import\(|import )\s*'(\.[^']+)'/g)].map(([, target = '']) =>
    normalize(join(dirname(file), target)),
  )

/** The feature whose folder a path is in. */
const featureOf = (path: string) => /^(?:src|test)\/(?:sandbox\/)?features\/([\w-]+)\//.exec(path)?.[1]

/** The features that a file imports, or whose types it uses. */
const importedBy = (file: string) => importsOf(file).flatMap((target) => featureOf(target) ?? [])

// So each feature can be deleted: what remains does not refer to it.
test('no file imports a feature, but for those of the feature and of the features that say they need it', () => {
  const wrong = files('{src,test}/**/*.ts').flatMap((file) => {
    const own = featureOf(file)
    const { needs = [] } = features.find(({ name }) => name === own) ?? {}
    const others = importedBy(file).filter((name) => name !== own && !needs.includes(name))
    return others.map((name) => `${file} imports ${name}`)
  })
  expect(wrong).toEqual([])
})

// `npm run init` deletes what proves the starter: what is left compiles without it.
test('no test that a product keeps imports one of the starter', () => {
  const ofStarter = /^test\/(bench|chaos|real|scale|starter)\/|\/bench\/|demo-script\.long/
  const kept = files('test/**/*.ts').filter((file) => !ofStarter.test(file))
  const wrong = kept.filter((file) => importsOf(file).some((target) => ofStarter.test(target)))
  expect(kept.length).toBeGreaterThan(50)
  expect(wrong).toEqual([])
})

test('each feature is in a folder of its name, and listed once', async () => {
  for (const name of names) expect(existsSync(join(ROOT, 'src/features', name))).toBe(true)
  for (const { name } of await loadSandboxFeatures()) expect(names).toContain(name)
  expect(names.toSorted()).toEqual(files('src/features/*/').map((path) => path.split('/')[2]))
})
