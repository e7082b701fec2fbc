import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../support/ports.ts'
import { answering, run } from '../support/process.ts'
import { createVisitor } from '../support/visitor.ts'
import { openClone } from './clones.ts'

let product: ReturnType<typeof openClone>
let tree: string
beforeAll(async () => {
  product = openClone()
  tree = product.git('rev-parse', 'HEAD^{tree}')
  await product.command('init', '--name', "O'Brien & Sons", '--features', 'leads', '--yes')
  product.commit('init')
})
afterAll(() => product.remove())
const files = (pattern: string) => product.git('ls-files', pattern)

test('npm run init names the product, keeps only what a product needs, and notes which files it began with', () => {
  expect(JSON.parse(product.read('package.json'))).toMatchObject({
    name: 'obrien-sons',
    starter: { name: "O'Brien & Sons", tree },
  })
  expect(product.read('src/web/texts.ts')).toContain(`appName: "O'Brien & Sons"`)
  expect(product.read('README.md')).toMatch(/^# O'Brien & Sons\n/)
  const isNamed = (file: string) =>
    existsSync(join(product.dir, file)) && product.read(file).includes('connect-starter')
  expect(files(':!src/cli').split('\n').filter(isNamed)).toEqual([])
  for (const gone of [
    'test/bench',
    'test/chaos',
    'test/scale',
    'test/real',
    'test/starter',
    'docs/demo-script.md',
  ])
    expect(files(gone), gone).toBe('')
  expect(files('*/bench/*')).toBe('')
  expect(product.read('package.json')).not.toMatch(/bench|chaos|scale|simple-oauth2|saxes|ignoreIssues/)
  expect(product.read('.env')).toMatch(/^SESSION_SECRET=\S{32,}$[\s\S]*^TOKEN_ENCRYPTION_KEYS=\S+$/m)
  expect(existsSync(join(product.dir, 'src/features/price-files'))).toBe(false)
})

test('npm run init does nothing to a product, and nothing to changes that are not committed', async () => {
  await expect(product.command('init', '--name', 'Other', '--yes')).rejects.toThrow(
    /This is O'Brien & Sons already/,
  )
  const clone = openClone()
  clone.edit('README.md', '# Connect Starter', '# Mine')
  await expect(clone.command('init', '--name', 'Other', '--yes')).rejects.toThrow(
    /not committed \(README\.md\)/,
  )
  clone.remove()
})

test('npm run add-feature -- orders --write: works in the demo', async () => {
  await product.command('add-feature', 'orders', '--write')
  expect(product.read('docs/orders.md')).toContain('/connections/:bxcontext/orders')
  const [port, sandboxPort] = [String(await freePort()), String(await freePort())]
  const [app, platform] = [`http://localhost:${port}`, `http://localhost:${sandboxPort}`]
  const settings = { PORT: port, SANDBOX_PORT: sandboxPort, DATA_DIR: join(product.dir, '.data/demo') }
  const demo = run(join(product.dir, 'src/demo.ts'), settings, { cwd: product.dir })
  await answering(`${app}/health/live`, demo)
  const visitor = createVisitor()
  await visitor.post(`${app}/sign-in`, { form: { name: 'ann' } })
  await visitor.post(`${platform}/login`, {
    form: { email: 'marcus@ridgeline.example', password: 'sandbox' },
  })
  const consent = await visitor.follow(await visitor.post(`${app}/connect`))
  await visitor.follow(
    await visitor.post(consent.url, { form: { answer: 'accept', scope: ['leads', 'orders'] } }),
  )
  const card = await visitor.get(`${app}/connections`)
  const [, path = ''] = /href="(\/connections\/[^/"]+\/orders)"/.exec(card.text) ?? []
  const created = await visitor.follow(
    await visitor.post(`${app}${path}`, { form: { name: 'Bricks', notes: '' } }),
  )
  expect(created.text).toMatch(/The order was created\.[\s\S]*Bricks/)
  await demo.kill()
})

test('any noun makes a feature that passes the check and its tests without an edit, also with an own sign-in', async () => {
  // Words of SQL, of the app, and of JavaScript.
  const nouns = ['groups', 'features', 'constructors']
  for (const noun of nouns) await product.command('add-feature', noun, '--write')
  await product.command('add-feature', 'indexes', '--singular', 'index')
  const options = ['--title', 'POs', '--scope', 'po:read', '--path', '/v2/po']
  await product.command('add-feature', 'purchase-orders', '--write', ...options)
  product.edit('src/web/sign-in.ts', 'OwnSignIn | null = null', 'OwnSignIn | null = passwordSignIn')
  const imported = "import { passwordSignIn } from './password-sign-in.ts'\nimport { demoSignIn"
  product.edit('src/web/sign-in.ts', 'import { demoSignIn', imported)
  await product.bin('biome', 'check', '--write', 'src/web/sign-in.ts')
  await product.check()
  const added = ['orders', ...nouns, 'indexes', 'purchase-orders']
  // The scopes of the new features are asked for everywhere.
  const ofCore = ['test/app/connections-command.test.ts', 'test/web/pages.test.ts']
  await product.runTests(...ofCore, ...added.map((name) => `test/features/${name}/`))
})
