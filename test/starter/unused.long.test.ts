import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { fileOf } from '../../src/cli/programs.ts'
import { ROOT } from '../support/documents.ts'

// In a product, unused files are not errors. After you delete a feature by hand, the check only lists them.
test('no file, export or package of the starter is unused', () => {
  const args = ['--include', 'files,dependencies,exports,types', '--no-progress', '--no-config-hints']
  const { stdout, stderr } = spawnSync(process.execPath, [fileOf(ROOT, 'knip'), ...args], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1' },
  })
  expect(stdout + stderr).toBe('')
})
