import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

test('the tests of the core pass against a sandbox that answers like a recorded platform', () => {
  const env = { ...process.env, SANDBOX_AS: 'test/features/probe/recorded-platform.json' }
  const args = ['--config', 'test/vitest.config.ts', 'test/connect']
  const { status, stdout } = spawnSync('node_modules/.bin/vitest', ['run', ...args], {
    cwd: ROOT,
    env,
    encoding: 'utf8',
  })
  expect(status, stdout).toBe(0)
})
