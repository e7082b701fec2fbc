/** What connections of strangers may cost: a real app, from outside. */
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tempDir, testEnv } from '../support/env.ts'
import { freePort } from '../support/ports.ts'
import { type Program, runApp } from '../support/process.ts'

const NOWHERE = 'http://127.0.0.1:9'
const temp = tempDir()
let app: Program & { url: string }
let port: number
beforeAll(async () => {
  port = await freePort()
  const platform = { PLATFORM_APP_URL: NOWHERE, PLATFORM_AUTH_URL: NOWHERE, PLATFORM_API_URL: NOWHERE }
  app = await runApp(testEnv({ ...platform, PORT: String(port), DATA_DIR: temp.dir, LOG_LEVEL: 'error' }))
})
afterAll(async () => {
  await app.kill()
  temp.remove()
})

const open = (): Socket => connect(port, '127.0.0.1').on('error', () => {})
/** The memory of the app, in kB. */
const memory = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${app.child.pid}/status`, 'utf8'))?.[1])
async function msOfPage(): Promise<number> {
  const startedAt = performance.now()
  expect((await fetch(app.url)).status).toBe(200)
  return performance.now() - startedAt
}

test('40 connections with 1,700 requests each, which read nothing: the page of another user takes no second, and memory stays', async () => {
  for (let index = 0; index < 200; index++) await msOfPage()
  const before = memory()
  const packet = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(1_700)
  const sockets = Array.from({ length: 40 }, open)
  for (const socket of sockets) socket.pause().write(packet)
  const pages: number[] = []
  const sizes: number[] = []
  for (let index = 0; index < 50; index++) {
    pages.push(await msOfPage())
    sizes.push(memory())
  }
  for (const socket of sockets) socket.destroy()
  expect(Math.max(...pages)).toBeLessThan(1_000)
  expect(Math.max(...sizes) / before).toBeLessThan(1.5)
})

test('headers that do not arrive end their connection after 15 seconds, with a page', async () => {
  const startedAt = performance.now()
  const socket = open()
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n')
  // It sends as slowly as it can.
  const slowly = setInterval(() => socket.write('X-Header: x\r\n'), 1_000)
  const answer = await text(socket)
  clearInterval(slowly)
  expect(answer).toMatch(/^HTTP\/1\.1 408 [\s\S]*took too long/)
  expect(performance.now() - startedAt).toBeLessThan(20_000)
})
