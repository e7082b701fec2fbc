import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../support/ports.ts'
import { copyProject } from '../support/project.ts'

test('a test that fails leaves no process behind', async () => {
  const copy = copyProject()
  onTestFinished(() => copy.remove())
  const port = await freePort()
  writeFileSync(
    join(copy.dir, 'test/failing.test.ts'),
    `import { test } from 'vitest'
import { answering, run } from './support/process.ts'

test('fails', async () => {
  const program = run('src/cli/sandbox.ts', { SANDBOX_PORT: '${port}', DATA_DIR: '${copy.dir}/.data/sandbox' })
  await answering('http://localhost:${port}', program)
  throw new Error(\`process \${program.child.pid}\`)
})
`,
  )
  const failed = copy.bin('vitest', 'test/failing.test.ts', '--run', '--config', 'test/vitest.config.ts')
  const output = await failed.catch(String)
  expect(output).toMatch(/process \d+/)
  await expect(fetch(`http://localhost:${port}`)).rejects.toThrow()
})
