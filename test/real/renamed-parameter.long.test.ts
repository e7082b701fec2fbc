import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { copyProject } from '../support/project.ts'

/** What acts on the real sandbox, so that both sides must agree on the name: no test among them spells it. */
const TESTS = ['test/connect/authorization/flow.test.ts', 'test/features/flow-inspector/flows.test.ts']

test('a platform that calls the bxcontext otherwise is a change of one line of the contract', async () => {
  const { dir, bin, remove } = copyProject()
  const rename = (file: string, line: string) => {
    const path = join(dir, file)
    const text = readFileSync(path, 'utf8')
    expect(text).toContain(line)
    writeFileSync(path, text.replace(line, line.replace("'bxcontext'", "'businessId'")))
  }
  rename('src/connect/platform/contract.ts', "const BXCONTEXT = 'bxcontext'")
  // The sandbox is that platform: it has its own copy of the names.
  rename('src/sandbox/platform.ts', "const BXCONTEXT = 'bxcontext'")
  const output = await bin('vitest', 'run', '--config', 'test/vitest.config.ts', ...TESTS)
  expect(output).toMatch(/Tests {2}\d+ passed/)
  remove()
})
