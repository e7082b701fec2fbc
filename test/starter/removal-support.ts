import { join } from 'node:path'
import { freePort } from '../support/ports.ts'
import { answering, run } from '../support/process.ts'
import { copyProject } from '../support/project.ts'
import { createVisitor } from '../support/visitor.ts'

/** A copy of the project in `from`, whose features are removed. */
export function openCopy(from?: string) {
  const copy = copyProject(from)
  return {
    ...copy,
    /** Checks only what is affected by what has changed since the copy, if types were checked in its original. */
    checkTypes: () => copy.bin('tsc', '--noEmit', '--incremental', '--tsBuildInfoFile', '.tsbuildinfo'),
    async check(): Promise<void> {
      await copy.bin('tsc', '--noEmit')
      await copy.bin('biome', 'ci')
      await copy.bin('knip')
    },
    /** Retried once: what counts here is the removal, and the machine is busy with other long tests. */
    runTests: (...tests: string[]) =>
      copy.bin('vitest', ...tests, '--run', '--retry=1', '--config', 'test/vitest.config.ts'),
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
    DATA_DIR: join(dir, '.data'),
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
