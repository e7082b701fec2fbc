import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { placesOfAll } from '../../src/cli/removal.ts'
import { branchOf, unfinished } from '../../src/cli/update-branch.ts'
import { loadFeatures } from '../../src/features/load.ts'
import { ROOT } from '../support/documents.ts'
import { tempDir } from '../support/env.ts'
import { openClone, openZip } from './clones.ts'

const features = await loadFeatures()
const names = features.map(({ name }) => name)
/** The folders of these features. */
const placesOf = (of: readonly string[]) =>
  placesOfAll(
    features.map(({ folder }) => folder),
    of,
  )

type Clone = ReturnType<typeof openClone>
const versionIn = ({ read }: Clone): unknown => JSON.parse(read('package.json')).version

let starter: Clone
let product: Clone

/** Differences of the older version, in files that the product also changes: [file, older, newer, the product's]. */
const EDITED = [
  ['src/connect/platform/api.ts', 'MAX_ATTEMPTS = 2', 'MAX_ATTEMPTS = 3', 'MAX_ATTEMPTS = 5'],
  ['docs/deploy.md', '- A proxy.', '- A TLS proxy in front of the app.', '- Our proxy.'],
  ['views/app/home.eta', '<h1 id="old">', '<h1>', '<h1 id="own">'],
  ['tsconfig.json', '"lib": ["es2025"]', '"lib": ["esnext"]', '"lib": ["es2024"]'],
  ['docs/guides.md', '# Recipes', '# Guides', '# Our guides'],
] as const
/** Only the starter changes it. */
const CHANGED = ['docs/sandbox.md', '# The simulated platform', '# The sandbox'] as const
/** The product has deleted it, and the starter changes it. */
const DELETED = 'compose.yaml'
const GONE = 'src/web/gone.ts'
/** Features that the product left out at its beginning, and that stay away, but for the one that comes back with the one that it needs. */
const REMOVED = ['metrics', 'supplier-check', 'connection-checks']
/** `BACK` needs `NEEDED`. */
const [BACK = '', AWAY = '', NEEDED = ''] = REMOVED
const NEW_FEATURE = 'access-ended-mail'
/** A feature of the product that the newer version lacks, and its replacement according to the changelog. */
const [OLD_FEATURE, SUCCESSOR] = ['price-files', 'catalogue-files']
const OLD_FILE = `src/features/supplier/${OLD_FEATURE}/index.ts`
/**
 * Packages: one that the older version uses in a feature that the product removes, and the newer one in what all pages share; one
 * that only the older version uses; and one that is the product's.
 */
const [WANTED, DROPPED, OWN] = ['wanted', 'dropped', 'own']
const SHARED = 'src/web/requests/health.ts'
const OF_REMOVED = 'src/features/metrics/index.ts'

/** New files. The first imports a file that `init` deletes, and the second imports the first. */
const BROKEN = [
  ['test/app/of-bench.ts', '../bench/measure.ts'],
  ['test/app/of-broken.ts', './of-bench.ts'],
] as const
const NEWS = [
  '- Breaking: attempts are three.',
  '  Change nothing.',
  '- Breaking: attempts are three.',
  '  Change nothing.',
  `- ${AWAY}: a new rule.`,
  '',
]

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
  appendFileSync(join(starter.dir, 'CHANGELOG.md'), NEWS.join('\n'))
  addPackage(starter, WANTED)
  importIn(starter, SHARED, WANTED)
  for (const [file, imported] of BROKEN) writeFileSync(join(starter.dir, file), `import '${imported}'\n`)
  starter.commit('this version')
  for (const [file, older, newer] of [...EDITED, CHANGED]) starter.edit(file, newer, older)
  starter.edit('package.json', `"version": "${versionIn(starter)}"`, '"version": "0.9.0"')
  writeFileSync(join(starter.dir, 'CHANGELOG.md'), '# Changelog\n')
  writeFileSync(join(starter.dir, GONE), '/** Gone. */\nexport const GONE = 1\n')
  appendFileSync(join(starter.dir, DELETED), '# As it was.\n')
  for (const { folder } of features.filter(({ name }) => REMOVED.includes(name)))
    appendFileSync(join(starter.dir, `src/features/${folder}/index.ts`), '// As it was.\n')
  for (const place of placesOf([NEW_FEATURE, SUCCESSOR]))
    rmSync(join(starter.dir, place), { recursive: true, force: true })
  mkdirSync(dirname(join(starter.dir, OLD_FILE)))
  writeFileSync(
    join(starter.dir, OLD_FILE),
    "export default { title: 'Price files', order: 45, create: () => ({}) }\n",
  )
  addPackage(starter, DROPPED)
  starter.edit(SHARED, `import '${WANTED}'`, `import '${DROPPED}'`)
  importIn(starter, OF_REMOVED, WANTED)
  for (const [file] of BROKEN) rmSync(join(starter.dir, file))
  starter.commit('the version before')
  await makeProduct()
  starter.git('revert', '--no-edit', 'HEAD')
})
afterAll(() => {
  starter.remove()
  product.remove()
})

/**
 * A feature that `npm run add-feature -- orders --write` once generated. It is never edited, because products have such features,
 * and no update may break them.
 */
const KEPT_FEATURE = join(ROOT, 'test/starter/kept-feature.patch')

/** A product that began with a ZIP of the older version: without two features, with two of its own, a file edited, one deleted. */
async function makeProduct(): Promise<void> {
  product = openZip(starter.dir, 'HEAD')
  for (const name of [WANTED, DROPPED])
    symlinkSync(`../packages/${name}`, join(product.dir, 'node_modules', name))
  const kept = names.filter((name) => ![...REMOVED, NEW_FEATURE, SUCCESSOR].includes(name))
  await product.command('init', '--name', 'Acme Link', '--features', [...kept, OLD_FEATURE].join())
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

/** Does what a message says to give up an update. Expects the product as before. */
function expectGivenUp(message: string): void {
  const [, giveUp = ''] = /To give up: (.*) && npm install/.exec(message) ?? []
  execFileSync('sh', ['-c', giveUp], { cwd: product.dir })
  expect(product.git('status', '--porcelain', '--branch')).toBe('## main')
  expect(product.git('branch', '--list', '*starter-*')).toBe('')
}

test('what cannot be updated is refused in one sentence, and nothing changes', async () => {
  await expect(update()).rejects.toThrow(/Add the address of the starter/)
  await expect(update('/nowhere')).rejects.toThrow(/'\/nowhere' does not appear to be a git repository/)
  await expect(update(starter.dir, '9.9.9')).rejects.toThrow(/9\.9\.9/)
  const first = starter.git('rev-list', '--max-parents=0', 'HEAD')
  await expect(update(starter.dir, first)).rejects.toThrow(/is not the starter, or that version is older/)
  await expect(update(product.dir)).rejects.toThrow(/is not the starter, or that version is older/)
  await expect(update(starter.dir, '--with', 'nothing')).rejects.toThrow(/has no such feature/)
  expect(product.git('status', '--porcelain')).toBe('')
})

describe('a product from a ZIP of an older version', () => {
  let own: string
  beforeAll(() => {
    own = product.git('rev-parse', 'HEAD')
  })
  beforeEach(() => {
    product.git('reset', '-q', '--hard')
    product.git('switch', '-q', 'main')
    product.git('reset', '-q', '--hard', own)
    for (const branch of product.git('branch', '--format=%(refname:short)').split('\n'))
      if (branch !== 'main') product.git('branch', '-D', branch)
  })

  test('is updated without a conflict: what was deleted stays away, what was changed stays changed, a new feature is only named, one that was left out comes back if it is asked for, with the one that it needs, a feature that is gone goes with the words of the changelog, the packages are those that are used, and the check passes', async () => {
    const output = await update(starter.dir, '--with', BACK)
    expect(output.match(/- Breaking: attempts are three\.\n {2}Change nothing\./g)).toHaveLength(1)
    expect(output).not.toContain('a new rule')
    expect(output).toMatch(new RegExp(`Breaking: \`${OLD_FEATURE}\` is gone[\\s\\S]*--with ${SUCCESSOR}`))
    expect(output).toMatch(new RegExp(`^Features that you leave out: .*${NEW_FEATURE}`, 'm'))
    expect(output).toContain('In conflict: nothing.')
    expect(output).not.toMatch(/ failed: /)
    expect(output).toMatch(/To give up: [\s\S]*tsc exited with code 0/)
    for (const [file, , newer] of [...EDITED, CHANGED]) expect(product.read(file)).toContain(newer)
    expect(JSON.parse(product.read('package.json')).starter.version).toBe(versionIn(starter))
    expect(product.read('src/web/texts.ts')).toMatch(/APP_NAME = 'Acme Link'[\s\S]*onPlatform: 'There:'/)
    expect(product.read('README.md')).toMatch(/^# Acme Link\n/)
    const away = [
      DELETED,
      GONE,
      OLD_FILE,
      ...BROKEN.map(([file]) => file),
      'test/bench',
      'test/starter',
      ...placesOf([AWAY, NEW_FEATURE, SUCCESSOR]),
    ]
    expect(output).toContain(`Features that came, with those that they need: ${BACK}, ${NEEDED}.`)
    expect([BACK, NEEDED].filter((name) => !exists(`src/features/${name}/index.ts`))).toEqual([])
    expect(away.filter(exists)).toEqual([])
    const { dependencies } = JSON.parse(product.read('package.json'))
    expect(Object.keys(dependencies)).toEqual(expect.arrayContaining([WANTED, OWN]))
    expect(dependencies).not.toHaveProperty(DROPPED)
    await product.npm('ls')
    await product.npm('ci', '--dry-run', '--offline')
    const ofOwnFeatures = ['test/features/orders', 'test/features/invoices']
    await product.runTests(...ofOwnFeatures)
    product.commit('updated')
    product.git('switch', '-q', 'main')
    product.git('merge', '-q', '-')
    await expect(update()).rejects.toThrow(/has everything of that version already/)
  })

  test('is in conflict only in the five files that both have changed; an update that has begun is recognised, and given up as it says', async () => {
    for (const [file, older, , mine] of EDITED) product.edit(file, older, mine)
    product.commit('mine')
    const output = await update(starter.dir).catch(String)
    const files = EDITED.map(([file]) => file).sort()
    expect(output).toContain(`In conflict: ${files.join(', ')}.\n`)
    expect(product.git('diff', '--name-only', '--diff-filter=U').split('\n')).toEqual(files)
    expect(product.read('docs/deploy.md')).toMatch(/<<<<<<< [\s\S]*- Our proxy\.[\s\S]*- A TLS proxy/)
    const message = await update(starter.dir).catch(String)
    expect(message).toMatch(/the branch of an update that has begun\. To go on: /)
    expectGivenUp(message)
  })

  test('leaves away a feature that a feature of the product no longer needs, because the product has changed that', async () => {
    const [keeper, deleted] = ['src/features/supplier/live-pricing/index.ts', 'builder-requests']
    product.edit(keeper, `needs: ['${deleted}', `, 'needs: [')
    for (const place of placesOf([deleted]))
      rmSync(join(product.dir, place), { recursive: true, force: true })
    // In conflict, so that no package is installed.
    const [, [file, older, , mine]] = EDITED
    product.edit(file, older, mine)
    product.commit('mine')
    const output = await update(starter.dir).catch(String)
    expect(output).toMatch(new RegExp(`^Features that you leave out: .*${deleted}`, 'm'))
    expect(placesOf([deleted]).filter(exists)).toEqual([])
    expect(product.read(keeper)).not.toContain(`'${deleted}'`)
  })

  test('that was killed after it changed files is recognised without an address too, and says only how to give up', async () => {
    const tools = tempDir(tmpdir())
    const git = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
    const killing = `#!/bin/sh\ncase "$*" in "checkout HEAD"*) ${git} "$@"; kill -9 $PPID ;; esac\nexec ${git} "$@"\n`
    writeFileSync(join(tools.dir, 'git'), killing, { mode: 0o755 })
    vi.stubEnv('PATH', `${tools.dir}:${process.env.PATH}`)
    await update(starter.dir).catch(String)
    vi.unstubAllEnvs()
    tools.remove()
    expect(exists(`src/features/${NEW_FEATURE}`)).toBe(true)
    const message = await update().catch(String)
    expect(message).toMatch(/An update was interrupted in this branch\. To give up: .*\. Then run it again\./)
    expect(message).not.toContain('To go on')
    expectGivenUp(message)
  })

  test('is not updated while the branch of an earlier update is there, whole or interrupted; the message says how to delete it', async () => {
    const branch = branchOf(starter.git('rev-parse', 'HEAD'), [])
    for (const left of [branch, unfinished(branch)]) {
      product.git('branch', left)
      const message = await update(starter.dir).catch(String)
      expect(message).toContain(`the branch ${left}`)
      expect(product.git('status', '--porcelain', '--branch')).toBe('## main')
      const [, command = ''] = /To delete it: (.*?)\. /.exec(message) ?? []
      execFileSync('sh', ['-c', command], { cwd: product.dir })
      expect(product.git('branch', '--list', '*starter-*')).toBe('')
    }
  })

  test('is updated from a branch of its own, whatever its name begins with', async () => {
    for (const name of ['starter-theme', 'starter-0123456789', 'my-starter-0123456789ab']) {
      product.git('switch', '-q', '-c', name)
      await expect(update('/nowhere')).rejects.toThrow(/'\/nowhere' does not appear to be a git repository/)
    }
  })

  test('follows what the starter renamed: a file that both have changed is in conflict under its new name, a feature is still there, and what went to a feature or a test that was left out stays away, with its script', async () => {
    const [, [file, older, , mine]] = EDITED
    const ofAbsent = `src/features/${NEW_FEATURE}/health.ts`
    starter.git('switch', '-q', '-c', 'renamed')
    starter.git('mv', file, 'docs/operation.md')
    starter.git('mv', SHARED, ofAbsent)
    starter.git('mv', 'src/features/setup', 'src/features/beginning')
    writeFileSync(join(starter.dir, 'src/features/beginning/index.ts'), '// Written anew.\n')
    starter.edit('package.json', 'setup doctor', 'beginning doctor')
    starter.edit(
      'package.json',
      '"scripts": {',
      '"scripts": {\n    "chart": "node src/run.cjs test/bench/chart.ts",',
    )
    writeFileSync(join(starter.dir, 'test/bench/chart.ts'), '')
    starter.commit('renamed')
    starter.git('switch', '-q', 'main')
    product.edit(file, older, mine)
    product.commit('mine')
    const output = await update(starter.dir, 'renamed').catch(String)
    expect(output).toContain('In conflict: docs/operation.md.\n')
    expect(product.read('docs/operation.md')).toMatch(/<<<<<<< [\s\S]*- Our proxy\.[\s\S]*- A TLS proxy/)
    expect(output).not.toMatch(/^Features that you leave out: .*beginning/m)
    expect(product.read('src/features/beginning/index.ts')).toBe('// Written anew.\n')
    expect([ofAbsent, 'src/features/setup', 'test/bench'].filter(exists)).toEqual([])
    const { scripts } = JSON.parse(product.read('package.json'))
    expect(scripts.doctor).toMatch(/ beginning doctor$/)
    expect(scripts).not.toHaveProperty('chart')
    // With conflicts, the update runs no programs, whose failures would hide the list of conflicts.
    expect(output).not.toMatch(/ failed: /)
  })
})
