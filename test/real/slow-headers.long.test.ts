import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { tempDir, testEnv } from '../support/env.ts'
import { freePort } from '../support/ports.ts'
import { runApp } from '../support/process.ts'

const NOWHERE = 'http://127.0.0.1:9'

test('headers that do not arrive end their connection after 15 seconds, with a page', async () => {
  const { dir, remove } = tempDir()
  onTestFinished(remove)
  const port = await freePort()
  const platform = { PLATFORM_APP_URL: NOWHERE, PLATFORM_AUTH_URL: NOWHERE, PLATFORM_API_URL: NOWHERE }
  await runApp(testEnv({ ...platform, PORT: String(port), DATA_DIR: dir, LOG_LEVEL: 'error' }))
  const startedAt = performance.now()
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n')
  // It sends as slowly as it can.
  const slowly = setInterval(() => socket.write('X-Header: x\r\n'), 1_000)
  const answer = await text(socket)
  clearInterval(slowly)
  expect(answer).toMatch(/^HTTP\/1\.1 408 [\s\S]*took too long/)
  expect(performance.now() - startedAt).toBeLessThan(20_000)
})
