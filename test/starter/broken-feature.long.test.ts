import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { copyProject } from '../support/project.ts'

let copy: ReturnType<typeof copyProject>
beforeAll(() => {
  copy = copyProject()
})
afterAll(() => copy.remove())

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
