import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { placesOfAll } from '../../src/cli/removal.ts'
import { loadFeatures } from '../../src/features/load.ts'
import { openClone } from './clones.ts'

const features = await loadFeatures()

/** These features, and those that need them. */
function withDependents(names: readonly string[]): string[] {
  const dependents = features.filter(({ needs = [] }) => needs.some((need) => names.includes(need)))
  const all = [...new Set([...names, ...dependents.map(({ name }) => name)])]
  return all.length === names.length ? all : withDependents(all)
}

/** Includes a reserved word of JavaScript, and a word without a regular plural. */
const NOUNS = ['constructors', 'news', 'purchase-orders']

/** Features with any name are added to a clone. */
async function addFeatures(clone: ReturnType<typeof openClone>): Promise<void> {
  for (const noun of ['constructors', 'news']) await clone.command('add-feature', noun, '--write')
  const options = ['--title', 'POs', '--scope', 'po:read', '--path', '/v2/po']
  await clone.command('add-feature', 'purchase-orders', ...options)
  expect(clone.read('src/features/purchase-orders/texts.ts')).not.toContain('to create')
}

/** A clone gets a sign-in of its own. */
async function replaceSignIn(clone: ReturnType<typeof openClone>): Promise<void> {
  const parts =
    'routes: Router(), deleteUser: async () => {}, exportUser: async () => null, emailOf: async () => null'
  clone.edit(
    'src/web/sign-in/sign-in.ts',
    'OwnSignIn | null = null',
    `OwnSignIn | null = () => ({ ${parts} })`,
  )
  await clone.bin('biome', 'check', '--write', 'src/web/sign-in/sign-in.ts')
}

// needs.test.ts checks that no file refers to a feature that may be missing, so a single selection is enough. The removal of all
// of them, by the command, is in product.long.test.ts.
test('any word makes a feature that passes the check and its tests without an edit; so do the tests that look at all features, with an own sign-in, and after the folders of every second feature were deleted by hand', async () => {
  const clone = openClone()
  onTestFinished(clone.remove)
  await addFeatures(clone)
  await replaceSignIn(clone)
  const chosen = features.filter((_, index) => index % 2 === 0).map(({ name }) => name)
  const folders = features.map(({ folder }) => folder)
  for (const place of placesOfAll(folders, withDependents(chosen)))
    rmSync(join(clone.dir, place), { recursive: true, force: true })
  await clone.check()
  const ofAll = [
    'test/settings/config.test.ts',
    'test/web/requests/mount.test.ts',
    'test/app/connections-command',
  ]
  await clone.runTests(...ofAll, ...NOUNS.map((name) => `test/features/${name}/`))
})
