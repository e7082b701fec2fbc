import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { slugOf } from '../../src/cli/naming.ts'
import { fileOf, run as runProgram } from '../../src/cli/programs.ts'
import { openProject } from '../../src/cli/project.ts'
import { sizeOf } from '../../src/cli/removal.ts'
import { withoutCredentials } from '../../src/cli/repository.ts'
import { mergeKeys } from '../../src/cli/update-manifest.ts'
import { loadFeatures } from '../../src/features/load.ts'
import { ROOT } from '../support/documents.ts'
import { command } from '../support/process.ts'
import { copyProject } from '../support/project.ts'

const features = await loadFeatures()
const loads = (feature: string) => features.some(({ name }) => name === feature)

let copy: ReturnType<typeof copyProject>
beforeAll(() => {
  copy = copyProject()
})
afterAll(() => copy.remove())
const exists = (path: string) => existsSync(join(copy.dir, path))

/** Runs a command of the copy. */
const run = (name: string, ...args: string[]) =>
  command(join(copy.dir, `src/cli/${name}.ts`), {}, { args, cwd: copy.dir })
const refusal = (text: string) => ({ code: 1, output: expect.stringContaining(text) })

describe('npm run remove-feature', () => {
  test('lists the features, with their size and what each does', async () => {
    const { output } = await run('remove-feature')
    for (const { folder, title } of features) {
      const line = output.split('\n').find((line) => line.startsWith(`${folder} `))
      expect(line).toMatch(/ [1-9]\d* files: /)
      expect(line).toContain(title)
    }
  })

  test('refuses to remove a feature that others need, names all of them at once, and changes nothing', async () => {
    const needed = features.flatMap(({ needs = [] }) => needs)[0]
    if (needed === undefined) return
    const refused = await run('remove-feature', needed)
    expect(refused).toEqual(refusal(`To remove all of them: npm run remove-feature -- ${needed} `))
    const [, all = ''] = /remove-feature -- (.*)\. Nothing/.exec(refused.output) ?? []
    const isNamed = (name: string) => all.split(' ').includes(name)
    for (const { name, needs = [] } of features)
      expect(isNamed(name), name).toBe(name === needed || needs.some(isNamed))
    expect(exists(`src/features/${needed}`)).toBe(true)
  })

  test('names the features if the name is unknown', async () => {
    expect(await run('remove-feature', 'nothing')).toEqual(refusal('There is no feature "nothing"'))
  })
})

const TAKEN = features.slice(0, 1).map(({ name }) => name)
const SIMULATED = loads('leads') ? '/leads' : undefined

test.each<[what: string, args: string[], message: string]>([
  ['a name with a capital letter', ['Orders'], 'must be in lower case'],
  ['a name that a folder of pages has', ['sandbox'], 'is taken (views/sandbox)'],
  ...['label', 'disconnect', 'refresh', 'test'].map((name): [string, string[], string] => [
    `the name ${name}, whose path the page of connections has`,
    [name],
    `is taken (/connections/:bxcontext/${name}): choose another name`,
  ]),
  ...TAKEN.map((name): [string, string[], string] => [
    'the name of a feature',
    [name],
    `is taken (src/features/${name}): choose another name`,
  ]),
  ...[SIMULATED ?? []]
    .flat()
    .map((path): [string, string[], string] => [
      'a path that another feature reads',
      ['customers', '--path', path],
      'choose another --path',
    ]),
])('npm run add-feature refuses %s, and changes nothing', async (_what, args, message) => {
  const before = sizeOf(openProject(copy.dir), { name: args[0] ?? '', folder: args[0] ?? '' })
  expect(await run('add-feature', ...args)).toEqual(refusal(message))
  expect(sizeOf(openProject(copy.dir), { name: args[0] ?? '', folder: args[0] ?? '' })).toEqual(before)
})

test('the texts of a generated feature use its name as it is: no noun has a certain singular or article', () => {
  const template = openProject(join(copy.dir, 'src/cli/template'))
  for (const file of template.filesBelow('.'))
    expect(template.read(file), file).not.toMatch(/\b(an?|each|one) \{%= it\.(words|title)/i)
})

test('npm run build-core-package names a folder that is not there', async () => {
  expect(await run('build-core-package', '/nowhere')).toEqual(refusal('/nowhere is not a folder'))
})

test('a program that cannot be started, and a tool that is not installed, are told as what they are', () => {
  expect(runProgram(copy.dir, 'no-such-program', []).failure).toContain('no-such-program ENOENT')
  expect(() => fileOf(copy.dir, 'no-such-tool')).toThrow(/'no-such-tool'[^\n]*\. Run npm install\.$/)
})

// The commands of one feature stand for those of all.
describe.skipIf(!loads('first-party'))('npm run feature', () => {
  const feature = (...args: string[]) => command('src/cli/feature.ts', {}, { args })

  test('lists the commands of the features, each with what it does', async () => {
    const { output } = await feature()
    expect(output).toMatch(/^ {2}first-party tenants: lists the tenants .*\.$/m)
    for (const help of [[], ['--help']]) {
      const { code, output } = await feature('first-party', ...help)
      expect([code, output]).toEqual([0, expect.stringMatching(/^Usage: [\s\S]* first-party tenants: /)])
      expect(output).not.toContain('load-prices')
    }
  })

  test('runs a command with its arguments', async () => {
    expect((await feature('first-party', 'tenants', '--help')).output).toContain('--demo')
  })

  test('names those that there are if a name is unknown', async () => {
    expect(await feature('nothing')).toMatchObject({
      code: 1,
      output: expect.stringContaining('first-party'),
    })
    expect(await feature('first-party', 'no')).toMatchObject({
      code: 1,
      output: expect.stringContaining('tenants'),
    })
  })
})

test.each([
  ['Acme Link', 'acme-link'],
  ['Söhne Links', 'sohne-links'],
  ["O'Brien & Sons", 'obrien-sons'],
])('the name %s makes the package %s', (name, slug) => {
  expect(slugOf(name)).toBe(slug)
})

describe('an update', () => {
  test.each([
    ['https://ann:secret@git.example/starter.git', 'https://git.example/starter.git'],
    ['https://token@git.example/starter.git', 'https://git.example/starter.git'],
    ['git@git.example:a/starter.git', 'git@git.example:a/starter.git'],
    ['ssh://git@git.example/starter.git', 'ssh://git@git.example/starter.git'],
    ['../starter@2', '../starter@2'],
  ])('from %s keeps the address without what is secret in it', (address, kept) => {
    expect(withoutCredentials(address)).toBe(kept)
  })

  test('merges package.json by keys: what the product has changed or deleted stays so', () => {
    const base = { version: '1', scripts: { bench: 'x', keys: 'x' }, engines: { node: '22' } }
    const ours = { version: '0', scripts: { keys: 'x', own: 'o' }, engines: { node: '24' } }
    const theirs = { version: '2', scripts: { bench: 'y', keys: 'y', fresh: 'f' }, type: 'module' }
    expect(mergeKeys(base, ours, theirs)).toEqual({
      version: '0',
      scripts: { keys: 'y', own: 'o', fresh: 'f' },
      engines: { node: '24' },
      type: 'module',
    })
  })
})

// Both programs load features in the same way: each problem is shown by one of them.
test.each([
  ['src/main.ts', 'src/features', 'export default {', 'cannot be loaded: '],
  ['src/main.ts', 'src/features', 'export const broken = {}', 'must export a feature'],
  [
    'src/main.ts',
    'src/features',
    "export default { title: 'Broken', order: 1, needs: ['nothing'] }",
    'needs the feature nothing, which is not there',
  ],
  [
    'src/cli/sandbox.ts',
    'src/sandbox/features',
    "import './nothing.ts'",
    'cannot be loaded: Cannot find module',
  ],
])('%s names a broken feature of %s in one line: %s', async (program, folder, code, problem) => {
  const file = `${folder}/broken/index.ts`
  mkdirSync(join(copy.dir, file, '..'))
  onTestFinished(() => rmSync(join(copy.dir, file, '..'), { recursive: true }))
  writeFileSync(join(copy.dir, file), code)
  const output = await copy.program(program).catch((error: Error) => error.message)
  const lines = output.split('\n').filter((line) => line.trim() !== '')
  expect(lines.slice(1)).toEqual([expect.stringContaining(`${file} ${problem}`)])
})

/** Imports that the lint rules reject, by the importing file. */
const REFUSED = {
  'src/connect/extra.ts': ['../features/load.ts', '../app.ts', 'express-session'],
  'src/connect/vault/extra.ts': ['../../settings/config.ts', '../authorization/flows.ts', 'express'],
  'src/connect/platform/extra.ts': ['../authorization/flows.ts', '../vault/vault.ts'],
  'src/connect/store/extra.ts': ['../../web/feature-api.ts', '../vault/vault.ts', '../platform/api.ts'],
  'src/web/extra.ts': [
    '../features/load.ts',
    '../app.ts',
    '../connect/vault/vault.ts',
    '../connect/context.ts',
  ],
  'src/web/requests/extra.ts': ['../sign-in/user.ts', '../pages/format.ts'],
  'src/web/sign-in/extra.ts': ['../pages/pages.ts'],
  'src/features/extra.ts': ['../web/requests/respond.ts', '../runtime/log.ts'],
  'src/features/own/extra.ts': ['../../web/requests/respond.ts', '../../settings/read.ts', '../../app.ts'],
  'src/features/own/deep/extra.ts': [
    '../../../web/requests/respond.ts',
    '../../../runtime/log.ts',
    '../../../app.ts',
  ],
  'src/features/own/cli-extra.ts': ['../../web/requests/respond.ts', '../../connect/store/store.ts'],
  'src/sandbox/features/own/extra.ts': ['../../../connect/index.ts', '../../../features/own/index.ts'],
  'src/settings/extra.ts': ['../web/feature-api.ts', '../app.ts'],
  'src/features/group/own/extra.ts': [
    '../../../web/requests/respond.ts',
    '../../../runtime/log.ts',
    '../../../app.ts',
  ],
  'src/cli/extra.ts': ['../connect/store/store.ts'],
  'test/web/extra.ts': ['../../src/connect/store/store.ts'],
}

test('an import against the order of the folders is refused, at any depth', async () => {
  for (const [file, imports] of Object.entries(REFUSED)) {
    mkdirSync(dirname(join(copy.dir, file)), { recursive: true })
    writeFileSync(join(copy.dir, file), imports.map((from) => `import '${from}'\n`).join(''))
    onTestFinished(() => rmSync(join(copy.dir, file)))
  }
  const options = ['--reporter=github', '--max-diagnostics=none']
  const lint = copy.bin('biome', 'lint', ...options, ...Object.keys(REFUSED))
  const output = await lint.catch((error: Error) => error.message)
  const refusals = (file: string) =>
    output
      .split('\n')
      .filter((line) => line.startsWith('::error title=plugin') && line.includes(`/${file},line`))
  const counts = Object.keys(REFUSED).map((file) => [file, refusals(file).length])
  expect(counts).toEqual(Object.entries(REFUSED).map(([file, imports]) => [file, imports.length]))
})

// In a product, unused files are not errors. After you delete a feature by hand, the check only lists them.
test('no file, export or package of the starter is unused', () => {
  const args = ['--include', 'files,dependencies,exports,types', '--no-progress', '--no-config-hints']
  const { stdout, stderr } = spawnSync(process.execPath, [fileOf(ROOT, 'knip'), ...args], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1' },
  })
  expect(stdout + stderr).toBe('')
})
