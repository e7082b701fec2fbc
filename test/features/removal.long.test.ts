import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { features } from '../../src/features/index.ts'
import { freePort } from '../support/ports.ts'
import { answering, run } from '../support/process.ts'
import { copyProject } from '../support/project.ts'
import { createVisitor } from '../support/visitor.ts'

let copy: ReturnType<typeof copyProject>
beforeEach(() => {
  copy = copyProject()
})
afterEach(() => copy.remove())

/** Connects an account in the demo of the copy; resolves to the page that says so. */
async function connectInDemo(): Promise<string> {
  const [port, sandboxPort] = [await freePort(), await freePort()]
  const [app, platform] = [`http://localhost:${port}`, `http://localhost:${sandboxPort}`]
  const settings = {
    PORT: String(port),
    SANDBOX_PORT: String(sandboxPort),
    DATA_DIR: join(copy.dir, '.data'),
  }
  const demo = run(join(copy.dir, 'src/demo.ts'), settings, { cwd: copy.dir })
  await answering(`${app}/health/live`, demo)
  const visitor = createVisitor()
  await visitor.post(`${app}/sign-in`, { form: { name: 'ann' } })
  await visitor.post(`${platform}/login`, {
    form: { email: 'marcus@ridgeline.example', password: 'sandbox' },
  })
  const consent = await visitor.follow(await visitor.post(`${app}/connect`))
  const form = { answer: 'accept', scope: ['leads', 'catalogues'] }
  const page = await visitor.follow(await visitor.post(consent.url, { form }))
  await demo.kill()
  return page.text
}

async function expectChecksToPass(): Promise<void> {
  await copy.bin('tsc', '--noEmit')
  await copy.bin('biome', 'ci')
}
/** Retried once: what counts here is the removal, and the machine is busy with other long tests. */
const runTests = (...tests: string[]) =>
  copy.bin('vitest', ...tests, '--run', '--retry=1', '--config', 'test/vitest.config.ts')

/** The tests of what all features have in common: docs, settings, pages, the command itself. */
const COMMON = [
  'run',
  'test/docs',
  'test/config',
  'test/layout',
  'test/web',
  'test/settings',
  'test/features/needs',
]

test.each(features.map(({ name }) => name))(
  'npm run remove-feature removes %s and what needs it, and leaves a project that works',
  async (name) => {
    await copy.removeFeatures(name, '--with-dependents')
    expect(existsSync(join(copy.dir, 'src/features', name))).toBe(false)
    await expectChecksToPass()
    await runTests(...COMMON)
    expect(await connectInDemo()).toContain('The account is connected.')
  },
)

/** Those that import a list of features. Pages are tested without a browser, and attacks do not depend on it. */
const AFFECTED = ['related', 'src/features/index.ts', 'src/sandbox/features/index.ts'].concat(
  ['connect/**', 'app/**', 'e2e/**', '**/browser.test.ts', '**/hostile-*.test.ts', '**/secrets.test.ts'].map(
    (pattern) => `--exclude=test/${pattern}`,
  ),
)

test('npm run remove-feature removes one feature after the other, and the tests of the others keep passing', async () => {
  const left = new Set(features)
  while (left.size > 3) {
    const removable = [...left].filter(
      ({ name }) => ![...left].some(({ needs = [] }) => needs.includes(name)),
    )
    for (const feature of removable.slice(0, Math.ceil(left.size / 3))) {
      await copy.removeFeatures(feature.name)
      left.delete(feature)
    }
    await runTests(...AFFECTED)
  }
})

test('npm run remove-feature removes all features at once, and leaves a project that works', async () => {
  await copy.removeFeatures(...features.map(({ name }) => name))
  await expectChecksToPass()
  await runTests()
  expect(await connectInDemo()).toContain('The account is connected.')
  expect(await copy.removeFeatures()).toContain('All features are removed.')
})
