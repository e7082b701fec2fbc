import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { placesOfAll } from '../../src/cli/removal.ts'
import { loadFeatures } from '../../src/features/load.ts'
import { ROOT } from '../support/documents.ts'
import { tempDir } from '../support/env.ts'
import { openClone, openZip } from './clones.ts'

const features = await loadFeatures()
const names = features.map(({ name }) => name)
/** Where features of these names are. */
const placesOf = (of: readonly string[]) =>
  placesOfAll(
    features.map(({ folder }) => folder),
    of,
  )

type Clone = ReturnType<typeof openClone>
const versionIn = ({ read }: Clone): unknown => JSON.parse(read('package.json')).version

let starter: Clone
let product: Clone

/** What the older version has otherwise, in files that the product also changes: [file, older, newer, the product's]. */
const EDITED = [
  ['src/connect/platform/api.ts', 'MAX_ATTEMPTS = 2', 'MAX_ATTEMPTS = 3', 'MAX_ATTEMPTS = 5'],
  ['docs/deploy.md', '- A proxy.', '- A TLS proxy in front of the app.', '- Our proxy.'],
  ['views/app/home.eta', '<h1 id="old">', '<h1>', '<h1 id="own">'],
  ['tsconfig.json', '"lib": ["es2025"]', '"lib": ["esnext"]', '"lib": ["es2024"]'],
  ['docs/testing.md', '# Tests', '# Test your own features', '# Our tests'],
] as const
/** Only the starter changes it. */
const CHANGED = ['docs/sandbox.md', '# The simulated platform', '# The sandbox'] as const
/** The product has deleted it, and the starter changes it. */
const DELETED = 'compose.yaml'
const GONE = 'src/web/gone.ts'
const REMOVED = ['metrics', 'supplier-check']
const NEW_FEATURE = 'connection-checks'
/**
 * Packages: one that the older version uses in a feature that the product removes, and the newer one in what all pages share; one
 * that only the older version uses; one that only a removed feature uses; and one that is the product's.
 */
const [WANTED, DROPPED, LEFT_OUT, OWN] = ['wanted', 'dropped', 'left-out', 'own']
const SHARED = 'src/web/health.ts'
const OF_REMOVED = 'src/features/metrics/index.ts'

function addPackage(clone: Clone, name: string): void {
  const folder = join(clone.dir, 'packages', name)
  mkdirSync(folder, { recursive: true })
  const manifest = { name, version: '1.0.0', main: 'main.cjs' }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  writeFileSync(join(folder, 'main.cjs'), '')
  writeFileSync(join(folder, 'main.d.cts'), 'export {}\n')
  clone.edit(
    'package.json',
    '"dependencies": {',
    `"dependencies": {\n    "${name}": "file:packages/${name}",`,
  )
}

const importIn = (clone: Clone, file: string, name: string) => {
  writeFileSync(join(clone.dir, file), `import '${name}'\n${clone.read(file)}`)
}

/** Each test begins with an older version of the starter, and updates to the one that is here. */
beforeAll(async () => {
  starter = openClone()
  appendFileSync(join(starter.dir, 'CHANGELOG.md'), '- Breaking: attempts are three. Change nothing.\n')
  for (const name of [WANTED, LEFT_OUT]) addPackage(starter, name)
  importIn(starter, SHARED, WANTED)
  importIn(starter, OF_REMOVED, LEFT_OUT)
  starter.commit('this version')
  for (const [file, older, newer] of [...EDITED, CHANGED]) starter.edit(file, newer, older)
  starter.edit('package.json', `"version": "${versionIn(starter)}"`, '"version": "0.9.0"')
  writeFileSync(join(starter.dir, 'CHANGELOG.md'), '# Changelog\n')
  writeFileSync(join(starter.dir, GONE), '/** Gone. */\nexport const GONE = 1\n')
  appendFileSync(join(starter.dir, DELETED), '# As it was.\n')
  for (const { folder } of features.filter(({ name }) => REMOVED.includes(name)))
    appendFileSync(join(starter.dir, `src/features/${folder}/index.ts`), '// As it was.\n')
  for (const place of placesOf([NEW_FEATURE]))
    rmSync(join(starter.dir, place), { recursive: true, force: true })
  addPackage(starter, DROPPED)
  starter.edit(SHARED, `import '${WANTED}'`, `import '${DROPPED}'`)
  starter.edit('package.json', `"${LEFT_OUT}": "file:packages/${LEFT_OUT}",`, '')
  starter.edit(OF_REMOVED, `import '${LEFT_OUT}'`, `import '${WANTED}'`)
  starter.commit('the version before')
  await makeProduct()
  starter.git('revert', '--no-edit', 'HEAD')
})
afterAll(() => {
  starter.remove()
  product.remove()
})

/**
 * A feature that `npm run add-feature -- orders --write` made once. It is never edited: products have such features, and no update
 * may break them.
 */
const KEPT_FEATURE = join(ROOT, 'test/starter/kept-feature.patch')

/** A product that began with a ZIP of the older version: without two features, with two of its own, a file edited, one deleted. */
async function makeProduct(): Promise<void> {
  product = openZip(starter.dir, 'HEAD')
  for (const name of [WANTED, DROPPED])
    symlinkSync(`../packages/${name}`, join(product.dir, 'node_modules', name))
  const kept = names.filter((name) => ![...REMOVED, NEW_FEATURE].includes(name))
  await product.command('init', '--name', 'Acme Link', '--features', kept.join())
  product.commit('init')
  product.git('apply', KEPT_FEATURE)
  await product.command('add-feature', 'invoices')
  product.edit('src/web/texts.ts', "onPlatform: 'On the platform:'", "onPlatform: 'There:'")
  addPackage(product, OWN)
  importIn(product, 'src/features/orders/index.ts', OWN)
  await product.npm('install', '--prefer-offline')
  rmSync(join(product.dir, DELETED))
  product.commit('own')
}

const update = (...args: string[]) => product.command('update', ...args)
const exists = (file: string) => existsSync(join(product.dir, file))

test('what cannot be updated is refused in one sentence, and nothing changes', async () => {
  await expect(update()).rejects.toThrow(/Add the address of the starter/)
  await expect(update('/nowhere')).rejects.toThrow(/'\/nowhere' does not exist/)
  await expect(update(starter.dir, '9.9.9')).rejects.toThrow(/has no version 9\.9\.9/)
  await expect(update(starter.dir, 'HEAD~2')).rejects.toThrow(/Up to that version/)
  await expect(update(starter.dir, '--with', 'leads')).rejects.toThrow(/no such new feature/)
  const other = tempDir()
  execFileSync('git', ['init', '-q', other.dir])
  symlinkSync('/', join(other.dir, 'link'))
  await expect(update(other.dir)).rejects.toThrow(/has no version/)
  other.remove()
  expect(product.git('status', '--porcelain')).toBe('')
})

describe('a product from a ZIP of an older version', () => {
  let own: string
  beforeAll(() => {
    own = product.git('rev-parse', 'HEAD')
  })
  beforeEach(() => {
    product.git('switch', '-q', '--discard-changes', 'main')
    product.git('reset', '-q', '--hard', own)
    for (const branch of product.git('branch', '--format=%(refname:short)').split('\n'))
      if (branch !== 'main') product.git('branch', '-D', branch)
  })

  test('is updated without a conflict: what was deleted stays away, what was changed stays changed, a new feature is only named, the packages are those that are used, and the check passes', async () => {
    const output = await update(starter.dir)
    expect(output).toContain('- Breaking: attempts are three')
    expect(output.lastIndexOf('- Breaking')).toBeLessThan(output.search(/^- (?!Breaking)/m))
    expect(output).toContain(`New features, which are not taken: ${NEW_FEATURE}.`)
    expect(output).toContain('which are staged')
    expect(output).not.toMatch(/ failed: /)
    expect(output).toMatch(/To abandon the update[\s\S]*tsc exited with code 0/)
    for (const [file, , newer] of [...EDITED, CHANGED]) expect(product.read(file)).toContain(newer)
    expect(JSON.parse(product.read('package.json')).starter.version).toBe(versionIn(starter))
    expect(product.read('src/web/texts.ts')).toMatch(/appName: 'Acme Link'[\s\S]*onPlatform: 'There:'/)
    expect(product.read('README.md')).toMatch(/^# Acme Link\n/)
    const away = [DELETED, GONE, 'test/bench', 'test/starter', ...placesOf([...REMOVED, NEW_FEATURE])]
    expect(away.filter(exists)).toEqual([])
    const { dependencies } = JSON.parse(product.read('package.json'))
    expect(Object.keys(dependencies)).toEqual(expect.arrayContaining([WANTED, OWN]))
    for (const name of [DROPPED, LEFT_OUT]) expect(dependencies).not.toHaveProperty(name)
    await product.npm('ls')
    await product.npm('ci', '--dry-run', '--offline')
    const ofOwnFeatures = ['test/features/orders', 'test/features/invoices']
    await product.runTests(...ofOwnFeatures, 'test/features/setup/registration', 'test/web/pages.test.ts')
    product.commit('updated')
    expect(await update()).toContain('has everything of that version already')
  })

  test('is in conflict only in the five files that both have changed; a new feature that is wanted is taken', async () => {
    for (const [file, older, , mine] of EDITED) product.edit(file, older, mine)
    product.commit('mine')
    const list = EDITED.map(([file]) => `  ${file}\n`)
      .sort()
      .join('')
    const output = await update(starter.dir, '--with', NEW_FEATURE)
    expect(output).toContain(`git add each when it is resolved:\n${list}Then`)
    expect(product.git('diff', '--name-only', '--diff-filter=U').split('\n')).toHaveLength(5)
    expect(product.read('docs/deploy.md')).toMatch(/<<<<<<< [\s\S]*- Our proxy\.[\s\S]*- A TLS proxy/)
    expect(exists(`src/features/${NEW_FEATURE}/index.ts`)).toBe(true)
  })
})
