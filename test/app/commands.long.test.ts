/**
 * Commands as processes of their own. Other tests run commands in the test's process, and wouldn't notice a command that doesn't
 * end.
 */
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { tempDir, testEnv } from '../support/env.ts'
import { runProgram } from '../support/process.ts'
import { REDIS, withRedis } from '../support/programs.ts'
import { startRedis } from '../support/redis.ts'

const NOWHERE = 'http://127.0.0.1:9'
const PLATFORM = { PLATFORM_APP_URL: NOWHERE, PLATFORM_AUTH_URL: NOWHERE, PLATFORM_API_URL: NOWHERE }

const COMMANDS = [['connections', 'list'], ['reencrypt']]

test.for(['SQLite', 'Redis'] as const)('each command ends without help on %s', async (kind, { skip }) => {
  skip(kind === 'Redis' && !REDIS, withRedis)
  const { dir, remove } = tempDir()
  onTestFinished(remove)
  const redis = kind === 'Redis' ? await startRedis() : undefined
  onTestFinished(() => redis?.close())
  const env = testEnv({ ...PLATFORM, DATA_DIR: dir, ...(redis && { REDIS_URL: redis.url }) })
  const commands = redis ? COMMANDS : [...COMMANDS, ['backup', join(dir, 'backup.sqlite')]]
  for (const [name, ...args] of commands) {
    const program = runProgram(`src/cli/${name}.ts`, env, { args })
    expect(await program.exited, program.output()).toBe(0)
  }
})
