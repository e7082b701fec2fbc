import { rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import express from 'express'
import request from 'supertest'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type KeyValueStore, openSqlite } from '../../../src/connect/stores.ts'
import { healthRoutes } from '../../../src/web/requests/health.ts'
import { tempDir } from '../../support/env.ts'

let folder: ReturnType<typeof tempDir>
let file: string
let store: KeyValueStore
beforeEach(async () => {
  folder = tempDir()
  file = join(folder.dir, 'store.sqlite')
  store = openSqlite({ file })
  await store.set({ kind: 'thing', owner: 'ann', id: 'one' }, 'x'.repeat(20_000))
  expect(await readiness()).toBe(200)
})
afterEach(async () => {
  await store.close()
  folder.remove()
})

const readiness = async () =>
  (await request(express().use('/health', healthRoutes(store))).get('/health/ready')).status

test.each<[string, () => void]>([
  ['was overwritten', () => writeFileSync(file, 'x'.repeat(50_000))],
  ['was cut off', () => truncateSync(file, 4096)],
  ['is empty', () => truncateSync(file, 0)],
  // See sqlite.test.ts for more about a process whose file is gone.
  ['was deleted', () => rmSync(file)],
])('a process whose SQLite file %s is not ready', async (_what, harm) => {
  harm()
  expect(await readiness()).toBe(503)
})

test('a process is not ready while another one keeps the SQLite file locked', async () => {
  const other = new DatabaseSync(file)
  other.exec('BEGIN EXCLUSIVE')
  expect(await readiness()).toBe(503)
  other.exec('COMMIT')
  other.close()
  expect(await readiness()).toBe(200)
})

test('a process whose SQLite file has no room is not ready', async () => {
  await store.close()
  store = openSqlite({ file, maxPages: 12 })
  for (let id = 0; id < 20; id++)
    await store.set({ kind: 'thing', owner: 'ann', id: `${id}` }, 'x'.repeat(2_000)).catch(() => {})
  expect(await readiness()).toBe(503)
})

test('however many ask whether a process is ready, its store takes one write in a second', async () => {
  const answer = Promise.withResolvers<void>()
  const ping = vi.fn(() => answer.promise)
  const app = express().use('/health', healthRoutes({ ping }))
  const ready = () => request(app).get('/health/ready').expect(200)
  const waiting = [ready(), ready()].map((asked) => asked.then(() => {}))
  await vi.waitFor(() => expect(ping).toHaveBeenCalled())
  answer.resolve()
  await Promise.all(waiting)
  await ready()
  expect(ping).toHaveBeenCalledOnce()
})
