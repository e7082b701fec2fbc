import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { loadFeatures } from '../../src/features/load.ts'
import { loadSandboxFeatures } from '../../src/sandbox/load.ts'

const FEATURES = await loadSandboxFeatures()

const features = await loadFeatures()

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const FOLDERS = ['src/features', 'src/sandbox/features', 'test/features', 'test/sandbox/features']

/** The other features that the files of a folder import. */
function importedFeatures(folder: string): Set<string> {
  const imported = new Set<string>()
  for (const file of globSync(`${folder}/**/*.ts`, { cwd: ROOT })) {
    const text = readFileSync(join(ROOT, file), 'utf8')
    for (const [, target = ''] of text.matchAll(/(?:from|import\() ?'(\.[^']+)'/g)) {
      const path = normalize(join(dirname(file), target))
      const [, name] = /(?:^|\/)(?:sandbox\/)?features\/([a-z-]+)\//.exec(path) ?? []
      // A test that is named after another feature is removed together with that one.
      const isTestWith = basename(file) === `${name}.test.ts`
      if (name && !isTestWith && !path.startsWith(`${folder}/`)) imported.add(name)
    }
  }
  return imported
}

test.each(features.map((feature) => [feature.name, feature] as const))(
  '%s imports only the features that it says it needs',
  (name, { needs = [] }) => {
    for (const folder of FOLDERS)
      for (const other of importedFeatures(join(folder, name)))
        expect([name, ...needs], `${folder}/${name} imports ${other}: add it to needs`).toContain(other)
  },
)

test('each feature is in a folder of its name, and listed once', () => {
  for (const { name } of features) expect(existsSync(join(ROOT, 'src/features', name))).toBe(true)
  for (const { name } of FEATURES) expect(features.map((feature) => feature.name)).toContain(name)
  const folders = globSync('src/features/*/', { cwd: ROOT }).map((path) => path.split('/')[2])
  expect(features.map(({ name }) => name).sort()).toEqual(folders.sort())
})
