import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { loadFeatures } from '../../src/features/load.ts'
import { openCopy } from './removal-support.ts'

const features = await loadFeatures()

let original: ReturnType<typeof openCopy>
let copy: ReturnType<typeof openCopy>
const git = (...args: string[]) => gitIn(copy.dir, ...args)
const gitIn = (dir: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.example', ...args], {
    cwd: dir,
    encoding: 'utf8',
  })
const read = (file: string) => readFileSync(join(copy.dir, file), 'utf8')
const init = (...args: string[]) => copy.command('init', ...args)
const add = (...args: string[]) => copy.command('add-feature', ...args)

/** Like a fresh clone: its files are committed, and nothing else is. */
beforeAll(async () => {
  original = openCopy()
  await original.checkTypes()
  gitIn(original.dir, 'init', '-q')
  writeFileSync(join(original.dir, '.git/info/exclude'), 'node_modules\n')
  gitIn(original.dir, 'add', '-A')
  gitIn(original.dir, 'commit', '-qm', 'all')
})
afterAll(() => original.remove())
beforeEach(() => {
  copy = openCopy(original.dir)
})
afterEach(() => copy.remove())

const names = features.map(({ name }) => name)

describe('npm run init', () => {
  test('renames the starter, keeps half of the features, and leaves a project that passes its tests, also with a feature of its own', async () => {
    const removable = features.filter(({ name }) => !features.some(({ needs = [] }) => needs.includes(name)))
    const removed = removable.slice(0, features.length / 2).map(({ name }) => name)
    const kept = names.filter((name) => !removed.includes(name))
    const output = await init('--name', 'Acme Link', '--features', kept.join(), '--port', '3100', '--yes')
    expect(output).toContain('This clone is now Acme Link')
    const named = git('ls-files', 'src', 'views', 'package.json')
      .split('\n')
      .filter((file) => file && !file.startsWith('src/cli/') && existsSync(join(copy.dir, file)))
      .filter((file) => /connect.starter/i.test(read(file)))
    // A file format that must stay readable.
    expect(named.filter((file) => !file.endsWith('exports.ts'))).toEqual([])
    expect(read('package.json')).toContain('"name": "acme-link"')
    expect(read('.env')).toMatch(
      /^PORT=3100$[\s\S]*^SESSION_SECRET=\S{32,}$[\s\S]*^TOKEN_ENCRYPTION_KEYS=\S+$/m,
    )
    expect(existsSync(join(copy.dir, 'test/starter'))).toBe(false)
    await copy.check()
    git('add', '-A')
    git('commit', '-qm', 'init')
    // With a feature of one's own, whose scope is one more, and with the .env.
    await add('invoices', '--write')
    git('add', '-A')
    git('commit', '-qm', 'invoices')
    copy.leaveOutIndependentTests()
    await copy.runTests(
      'related',
      'src/features/index.ts',
      'src/sandbox/features/index.ts',
      'src/runtime/env-file.ts',
      'test/support/process.ts',
    )
    git('checkout', '-q', '.')
    expect(await init('--name', 'Other', '--yes')).toContain(
      'This is Acme Link already. Nothing was changed.',
    )
    expect(git('status', '--porcelain')).toBe('')
  })

  test('leaves nothing of the removed features among packages, no warning of the check, and an .env alone', async () => {
    writeFileSync(join(copy.dir, '.env'), 'PORT=1\n')
    expect(await init('--name', 'Acme', '--features', 'leads', '--yes')).toContain('it is unchanged')
    expect(read('.env')).toBe('PORT=1\n')
    const ofOthers = /saxes|yauzl|prom-client|csv-parse/
    expect(read('package.json')).not.toMatch(ofOthers)
    expect(read('package-lock.json')).not.toMatch(/"node_modules\/(saxes|prom-client|csv-parse)/)
    expect(read('package.json')).toMatch(/"express"[\s\S]*"redis"[\s\S]*"zod"/)
    expect(await copy.bin('knip')).toBe('')
  })

  test('keeps the tests of a product green whose sign-in is replaced as the README says', async () => {
    await init('--name', 'Acme', '--features', 'leads', '--sign-in', 'own', '--yes')
    const file = join(copy.dir, 'src/web/sign-in.ts')
    const own = read('src/web/sign-in.ts')
      .replace('OwnSignIn | null = null', 'OwnSignIn | null = passwordSignIn')
      .replace(/(?=^import .*oidc-discovery)/m, "import { passwordSignIn } from './password-sign-in.ts'\n")
    writeFileSync(file, own)
    await copy.bin('biome', 'check', '--write', file)
    await copy.check()
    copy.leaveOutIndependentTests()
    await copy.runTests('test/app/', 'test/web/own-sign-in')
  })

  test('keeps the packages that other code names, and reports the unused exports that it has', async () => {
    mkdirSync(join(copy.dir, 'scripts'))
    writeFileSync(join(copy.dir, 'scripts/own.mjs'), "import Big from 'big.js'\n\nconsole.log(new Big(1))\n")
    appendFileSync(join(copy.dir, 'src/web/format.ts'), '\n/** Mine. */\nexport const MINE = 1\n')
    git('add', '-A')
    git('commit', '-qm', 'mine')
    await copy.removeFeatures('supplier-check', 'live-pricing', 'price-files')
    expect(read('package.json')).toMatch(/"big.js"/)
    expect(read('package.json')).not.toMatch(/saxes|src\/web\/format/)
    await expect(copy.bin('knip')).rejects.toThrow(/MINE/)
  })

  test.each([
    [['--name', 'a/b'], /--name: only letters, digits/],
    [['--name', "Joe's"], /--name: only letters, digits/],
    [['--name', ''], /--name: enter the name/],
    [['--name', '', '--port', '0'], /--name: enter the name.*\n--port: must be a whole number/],
    [['--name', 'Acme', '--features', 'price-files'], /price-files needs \S+/],
    [['--name', 'Acme', '--features', 'nothing'], /there is no feature "nothing"/],
    [['--name', 'Acme', '--port', '99999'], /--port: must be a whole number/],
    [['--name', 'Acme', '--port', '4400'], /--sandbox-port: must differ from the port of the app/],
    [['--name', 'Acme', '--sign-in', 'magic'], /--sign-in: must be demo, openid, or own/],
    [['--name', 'Acme', '--redis-url', 'localhost'], /--redis-url: must be an address such as/],
  ])('%j is refused, and nothing changes', async (args, message) => {
    await expect(init(...args, '--yes')).rejects.toThrow(message)
    expect(git('status', '--porcelain')).toBe('')
  })

  test('refuses a tree with changes', async () => {
    writeFileSync(join(copy.dir, 'README.md'), 'mine')
    await expect(init('--name', 'Acme', '--yes')).rejects.toThrow(/not committed \(README.md\)/)
    expect(read('README.md')).toBe('mine')
  })
})

describe('npm run add-feature', () => {
  /** The test that docs/testing.md shows, for a feature and its path of the platform. */
  function documentedTest(name: string, path: string): string {
    const [, code = ''] = /```ts\n([\s\S]*?)```/.exec(read('docs/testing.md')) ?? []
    return code.replaceAll('/api/invoices', `/api${path}`).replaceAll('invoices', name)
  }

  test('makes features that pass the checks and their tests without an edit, and leave no trace when removed', async () => {
    const made = { invoices: '/accounting/invoices', entries: '/entries' }
    await add('invoices', '--write', '--scope', 'billing', '--path', made.invoices)
    await add('entries', '--pages', 'list')
    for (const [name, path] of Object.entries(made)) {
      for (const file of git('ls-files', '--others', `test/features/${name}`).split('\n').filter(Boolean))
        expect(read(file).match(/support\/.*(?=')/g), file).toEqual(['support/kit.ts'])
      writeFileSync(join(copy.dir, `test/features/${name}/answers.test.ts`), documentedTest(name, path))
    }
    await copy.check()
    await copy.runTests(
      'test/features/invoices',
      'test/features/entries',
      'test/web/openapi',
      'test/starter/docs',
    )
    const files = git('ls-files', '--others', '--exclude-standard').split('\n').filter(Boolean)
    for (const file of files) expect(read(file), file).not.toMatch(/widget|template/i)
    await expect(copy.removeFeatures(...Object.keys(made))).rejects.toThrow(/not committed .*--discard/)
    await copy.removeFeatures(...Object.keys(made), '--discard')
    expect(git('status', '--porcelain')).toBe('')
  })

  test('remove-feature refuses a feature with changes that are not committed', async () => {
    const [name = ''] = names
    writeFileSync(join(copy.dir, `src/features/${name}/mine.ts`), 'export {}')
    await expect(copy.removeFeatures(name, '--with-dependents')).rejects.toThrow(/not committed/)
    expect(read(`src/features/${name}/mine.ts`)).toBe('export {}')
  })

  test.each([
    ['a/b', /must be a plural noun/],
    ['class', /is reserved/],
    ['tokens', /is reserved/],
    ['constructor', /is reserved/],
    ['its', /"it" is a reserved word/],
    ['sheep', /Add --singular/],
    ['boxes', /Add --singular/],
    ['items', /itself uses the name "items"; choose another name/],
    ['sources', /itself uses the name "source"; choose another --singular/],
    ['strings', /itself uses the name "string"/],
  ])('%s is refused, and nothing changes', async (name, message) => {
    await expect(add(name)).rejects.toThrow(message)
    expect(git('status', '--porcelain')).toBe('')
  })
})
