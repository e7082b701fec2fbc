/** The life of a product. Each test continues with the files of the previous test. */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { freePort } from '../support/ports.ts'
import { answering, programOf, runProgram } from '../support/process.ts'
import { createVisitor } from '../support/visitor.ts'
import { openClone } from './clones.ts'
import { reword } from './reword.ts'

const NAME = "O'Brien & Söhne - Büro"
const OWN_SIGN_IN =
  '() => ({ routes: Router(), deleteUser: async () => {}, exportUser: async () => null, emailOf: async () => null })'
let product: ReturnType<typeof openClone>
beforeAll(() => {
  product = openClone()
})
afterAll(() => product.remove())
const files = (pattern: string) => product.git('ls-files', pattern)

/** Tests and `npm ci` have the same packages: those of package.json. */
async function expectPackagesAsListed(): Promise<void> {
  await product.npm('ls')
  await product.npm('ci', '--dry-run', '--offline')
}

test('npm run init does nothing to changes that are not committed', async () => {
  product.edit('README.md', '# Connect Starter', '# Mine')
  const init = product.command('init', '--name', 'Other', '--yes')
  await expect(init).rejects.toThrow(/not committed \(README\.md\)/)
  product.git('checkout', '-q', '.')
})

// `script` has other arguments elsewhere.
test.runIf(process.platform === 'linux')(
  'npm run init on a terminal asks for a group in one line, with its purpose, and keeps none by itself; it names the features that it deletes, and asks once; a no changes nothing',
  async () => {
    const init = `stty cols 200 rows 40; '${process.execPath}' src/cli/init.ts --name Other`
    const child = spawn('/usr/bin/script', ['-qec', init, '/dev/null'], { cwd: product.dir, stdio: 'pipe' })
    const terminal = programOf(child)
    const shown = () => stripVTControlCharacters(terminal.output())
    await expect.poll(shown).toContain("supplier (The supplier's side: catalogue files, live prices")
    child.stdin.write('\r')
    await expect.poll(shown).toContain('Delete it?')
    expect(shown()).toMatch(/the feature live-pricing, [\s\S]*\d+ files that test, show or name the starter/)
    expect(shown()).not.toContain('the feature leads,')
    child.stdin.write('n')
    expect(await terminal.exited).toBe(1)
    expect(shown()).toContain('Nothing was changed.')
    expect(product.git('status', '--porcelain')).toBe('')
  },
)

test('npm run init names the product, lists the features it deletes, keeps only what a product needs and what it uses, and notes which files it began with', async () => {
  const tree = product.git('rev-parse', 'HEAD^{tree}')
  const { version } = JSON.parse(product.read('package.json'))
  const printed = await product.command('init', '--name', NAME, '--features', 'leads', '--yes')
  expect(printed).toMatch(
    /^This deletes .*the feature catalogues, .*the feature metrics, \d+ files that test/m,
  )
  const [, left = ''] = /You can bring back what you left out \((.*)\):\n/.exec(printed) ?? []
  expect(left.split(', ')).toEqual(expect.arrayContaining(['catalogues', 'metrics', 'supplier-check']))
  expect(printed).toMatch(/npm run update -- URL --with NAME, in which URL is the address of the starter/)
  product.commit('init')
  expect(JSON.parse(product.read('package.json'))).toMatchObject({
    name: 'obrien-sohne-buro',
    version: '0.1.0',
    starter: { version, tree },
  })
  expect(product.read('src/web/texts.ts')).toContain(`APP_NAME = "${NAME}"`)
  expect(product.read('README.md')).toContain(`# ${NAME}\n`)
  expect(product.read('README.md')).not.toContain('supplier')
  const isNamed = (file: string) =>
    existsSync(join(product.dir, file)) && product.read(file).includes('connect-starter')
  expect(files(':!src/cli').split('\n').filter(isNamed)).toEqual([])
  const ofStarter = ['bench', 'chaos', 'gallery', 'scale', 'real', 'sandbox', 'starter'].map(
    (folder) => `test/${folder}`,
  )
  const others = ['*/bench/*', 'docs/demo.md', '*.long.test.ts', 'src/features/supplier/catalogue-files']
  for (const gone of [...ofStarter, ...others, '.ci', 'src/cli/init.ts']) expect(files(gone), gone).toBe('')
  expect(product.read('package.json')).not.toMatch(/bench|chaos|scale|simple-oauth2|busboy|clack/)
  expect(product.read('.env')).toMatch(/^SESSION_SECRET=\S{32,}$[\s\S]*^TOKEN_ENCRYPTION_KEYS=\S+$/m)
  await expectPackagesAsListed()
  // The types and the linter look at what is left of it after remove-feature, below.
  expect(await product.unused()).toBe('')
})

test('npm run add-feature -- orders --write: works in the demo', async () => {
  await product.command('add-feature', 'orders', '--write')
  expect(product.read('docs/orders.md')).toContain('/connections/:bxcontext/orders')
  expect(product.read('src/features/orders/texts.ts')).toMatch(
    /'to show the orders .*, and to create new ones'/,
  )
  const [port, sandboxPort] = [String(await freePort()), String(await freePort())]
  const [app, platform] = [`http://localhost:${port}`, `http://localhost:${sandboxPort}`]
  const settings = { PORT: port, SANDBOX_PORT: sandboxPort, DATA_DIR: join(product.dir, '.data/demo') }
  const demo = runProgram(join(product.dir, 'src/demo.ts'), settings, { cwd: product.dir })
  await answering(`${app}/health/live`, demo)
  const visitor = createVisitor()
  await visitor.post(`${app}/sign-in`, { form: { name: 'ann' } })
  const login = { email: 'marcus@ridgeline.example', password: 'sandbox' }
  await visitor.post(`${platform}/login`, { form: login })
  const consent = await visitor.follow(await visitor.post(`${app}/connect`))
  const form = { answer: 'accept', scope: ['leads', 'orders'] }
  await visitor.follow(await visitor.post(consent.url, { form }))
  const card = await visitor.get(`${app}/connections`)
  const [, path = ''] = /href="(\/connections\/[^/"]+\/orders)"/.exec(card.text) ?? []
  const created = await visitor.post(`${app}${path}`, { form: { name: 'Bricks', notes: '' } })
  expect((await visitor.follow(created)).text).toMatch(/The entry was created\.[\s\S]*Bricks/)
  await demo.kill()
  product.commit('orders')
})

/** Any word makes a feature, a reserved word of JavaScript and one without a regular plural too. */
const NOUNS = ['constructors', 'news', 'purchase-orders', 'site-visits']

/** Mistakes that a developer can make in the generated code of site-visits: its file, a line of it, and the wrong line. */
const MISTAKES: readonly [string, string, string][] = [
  ['src/features/site-visits/routes.ts', "search: 'name'", "search: 'notes'"],
  ['src/features/site-visits/routes.ts', "field: 'status'", "field: 'name'"],
  ['src/features/site-visits/routes.ts', 'createdAt desc', 'createdAt asc'],
  ['src/features/site-visits/routes.ts', 'CALLS.list, page)', 'CALLS.list, { ...page, skip: 0 })'],
  ['src/features/site-visits/routes.ts', 'CALLS.create, given)', 'CALLS.create, { name: given.name })'],
  ['src/features/site-visits/contract.ts', `\${encodeURIComponent(id)}`, `\${id}`],
  ['src/features/site-visits/contract.ts', ', notFound: texts.notFound', ''],
  ['src/features/site-visits/index.ts', 'texts.tested(total)', 'texts.tested(null)'],
  ['views/site-visits/list.eta', 'it.segment(entry.id)', 'entry.id'],
  ['views/site-visits/list.eta', "<%= it.form?.values.notes ?? '' %>", ''],
  ['views/site-visits/entry.eta', '[t.notes, it.entry.notes], ', ''],
]

test('any word makes a feature that passes the check without an edit', async () => {
  for (const noun of NOUNS.filter((noun) => noun !== 'purchase-orders'))
    await product.command('add-feature', noun, '--write')
  const options = ['--title', 'POs', '--scope', 'po:read', '--path', '/v2/po']
  await product.command('add-feature', 'purchase-orders', ...options)
  expect(product.read('src/features/purchase-orders/texts.ts')).not.toContain('to create')
  await product.check()
  product.commit('more features')
})

/** Adds a copy of site-visits with each of the mistakes. */
function copyWithMistakes(): void {
  const generated = files('*site-visits*').split('\n')
  for (const [index, [place, line, wrong]] of MISTAKES.entries()) {
    expect(product.read(place)).toContain(line)
    for (const file of generated) {
      const text = file === place ? product.read(file).replace(line, () => wrong) : product.read(file)
      const copy = join(product.dir, file.replace('site-visits', `site-visits-${index}`))
      mkdirSync(dirname(copy), { recursive: true })
      writeFileSync(copy, text.replaceAll('site-visits', `site-visits-${index}`))
    }
  }
}

test('in a product with words of its own all tests pass, but for those of a generated feature that has a mistake: they fail for each', async () => {
  onTestFinished(() => {
    product.git('checkout', '-q', '.')
    product.git('clean', '-fdq')
  })
  reword(product, 'src/**/texts.ts')
  copyWithMistakes()
  const report = await product
    .runTests(...['app', 'features', 'runtime', 'settings', 'web'].map((folder) => `test/${folder}/`))
    .catch(String)
  const failed = report.match(/(?<=FAIL .*test\/)\S+(?=\.test\.ts)/g)?.map((file) => dirname(file))
  const wrong = MISTAKES.map((_, index) => `features/site-visits-${index}`)
  expect([...new Set(failed)].sort(), report).toEqual(wrong.sort())
})

/** The tests that look at all features that there are. */
const OF_ALL = ['settings/config', 'web/requests/mount', 'app/connections-command']

test('npm run remove-feature of all features leaves nothing that is unused, and a product that passes the check, and, with a sign-in of its own, the tests that look at all features', async () => {
  const keys = () => Object.keys(JSON.parse(product.read('package.json')))
  const before = keys()
  await product.command('remove-feature', 'leads', 'orders', ...NOUNS)
  expect(keys()).toEqual(before)
  await expectPackagesAsListed()
  expect(product.read('package.json')).not.toMatch(/busboy|prom-client|csv-parse|doctor/)
  expect(product.read('package.json')).toMatch(/"express"[\s\S]*"redis"[\s\S]*"zod"/)
  await product.check()
  expect(await product.unused()).toBe('')
  product.edit('src/web/sign-in/sign-in.ts', 'OwnSignIn | null = null', `OwnSignIn | null = ${OWN_SIGN_IN}`)
  await product.runTests(...OF_ALL.map((file) => `test/${file}.test.ts`))
})
