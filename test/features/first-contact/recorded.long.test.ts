import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

test('the tests of the core that use the sandbox pass when it answers like a recorded platform', () => {
  const env = { ...process.env, SANDBOX_AS: 'test/features/first-contact/recorded-platform.json' }
  const tests = ['authorization', 'index', 'revocation-email'].map((name) => `test/connect/${name}`)
  const args = ['run', '--config', 'test/vitest.config.ts', ...tests]
  const { status, stdout } = spawnSync('node_modules/.bin/vitest', args, {
    cwd: ROOT,
    env,
    encoding: 'utf8',
  })
  expect(status, stdout).toBe(0)
})
