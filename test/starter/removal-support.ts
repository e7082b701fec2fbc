import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../support/ports.ts'
import { answering, run } from '../support/process.ts'
import { copyProject } from '../support/project.ts'
import { createVisitor } from '../support/visitor.ts'

/** Tests of the vault and of attacks, and of features in a browser: other features do not affect them, and they take longest. */
const INDEPENDENT = [
  'test/connect/{vault,store,platform}/**',
  'test/app/{kill,backup,connections-command}.test.ts',
  '**/browser.test.ts',
  '**/hostile-*.test.ts',
  '**/secrets{,.alone}.test.ts',
]

/** A copy of the project, or of an earlier copy, whose features are removed. */
export function openCopy(from?: string) {
  const copy = copyProject(from)
  // Other long tests use the other processors, and the threads of the compiler repeat each other's work. What was checked in
  // the copy that this one is made of comes with it, and only what a change affects is checked again.
  const checkTypes = () => copy.bin('tsc', '--singleThreaded', '--tsBuildInfoFile', '.data/types.tsbuildinfo')
  return {
    ...copy,
    checkTypes,
    async check(): Promise<void> {
      await checkTypes()
      await copy.bin('biome', 'ci')
      await copy.bin('knip')
    },
    /** Retried once: what counts here is the removal, and the machine is busy with other long tests. */
    runTests: (...tests: string[]) =>
      copy.bin(
        'vitest',
        ...tests,
        '--run',
        '--retry=1',
        '--bail=1',
        '--maxWorkers=1',
        '--config',
        'test/vitest.config.ts',
      ),
    /** For projects of vitest, `--exclude` has no effect. */
    leaveOutIndependentTests(): void {
      const file = join(copy.dir, 'test/vitest.config.ts')
      const config = readFileSync(file, 'utf8')
      const patterns = INDEPENDENT.map((pattern) => `'${pattern}'`).join()
      writeFileSync(file, config.replace('...defaultExclude', `...defaultExclude, ${patterns}`))
    },
    /** Connects an account in the demo; resolves to the page that says so. */
    connectInDemo: () => connectInDemo(copy.dir),
  }
}

async function connectInDemo(dir: string): Promise<string> {
  const [port, sandboxPort] = [await freePort(), await freePort()]
  const [app, platform] = [`http://localhost:${port}`, `http://localhost:${sandboxPort}`]
  const settings = {
    PORT: String(port),
    SANDBOX_PORT: String(sandboxPort),
    DATA_DIR: join(dir, '.data/demo'),
  }
  const demo = run(join(dir, 'src/demo.ts'), settings, { cwd: dir })
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
