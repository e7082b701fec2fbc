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

/** What `npm test` checks, with these tests; and the demo. */
async function expectWorkingProject(...tests: string[]): Promise<void> {
  await copy.bin('tsc', '--noEmit')
  await copy.bin('biome', 'ci')
  // Retried once: what counts here is the removal, and the machine is busy with other long tests.
  await copy.bin('vitest', ...tests, '--run', '--retry=1', '--config', 'test/vitest.config.ts')
  expect(await connectInDemo()).toContain('The account is connected.')
}

/**
 * The tests that the removal of one feature can affect: those that import a list of features. The core's own tests use no
 * feature; they run when all features are removed. Pages are tested without a browser, and attacks do not depend on it.
 */
const AFFECTED = ['related', 'src/features/index.ts', 'src/sandbox/features/index.ts'].concat(
  ['connect/**', 'app/**', 'e2e/**', '**/browser.test.ts', '**/hostile-*.test.ts', '**/secrets.test.ts'].map(
    (pattern) => `--exclude=test/${pattern}`,
  ),
)

test.each(features.map(({ name }) => name))(
  'npm run remove-feature removes %s and what needs it, and leaves a project that works',
  async (name) => {
    await copy.removeFeatures(name, '--with-dependents')
    expect(existsSync(join(copy.dir, 'src/features', name))).toBe(false)
    await expectWorkingProject(...AFFECTED)
  },
)

test('npm run remove-feature removes all features at once, and leaves a project that works', async () => {
  await copy.removeFeatures(...features.map(({ name }) => name))
  await expectWorkingProject()
  expect(await copy.removeFeatures()).toContain('All features are removed.')
})
