import { execFile } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { serve } from '../support/ports.ts'

test('a process that was stopped past its deadline reads the response that has arrived', async () => {
  let pid = 0
  const server = await serve(async (_req, res) => {
    process.kill(pid, 'SIGSTOP')
    res.end('answer')
    await pause(1_500)
    process.kill(pid, 'SIGCONT')
  })
  const script = `import { createHttp } from './src/connect/index.ts'
    const request = { method: 'GET', url: 'http://127.0.0.1:${server.port}/' }
    console.log((await createHttp({ deadlineMs: 1_000 }).send(request)).text)
    process.exit()`
  const running = promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])
  pid = running.child.pid ?? 0
  expect((await running).stdout).toBe('answer\n')
  await server.close()
})
