import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { StoreUnavailableError } from '../../../src/connect/errors.ts'
import { connectionKind, platform } from '../../../src/connect/index.ts'
import { openSqlite } from '../../../src/connect/stores.ts'
import { sharedApp, startAll } from '../../support/app.ts'
import { connectionsOf, newUser, signedIn, toCallback } from '../../support/flow.ts'

const app = await sharedApp()

test('a consent while the store refuses writes ends on a page that explains it, without the code in its address, and the account is connected once the store accepts it', async () => {
  const visitor = await signedIn(app, newUser())
  const url = await toCallback(app, visitor)
  const { connect, store } = app.services
  let isFull = false
  const write = store.compareAndSet
  vi.spyOn(store, 'compareAndSet').mockImplementation(async (...change) => {
    if (isFull) throw new StoreUnavailableError('full')
    return write(...change)
  })
  const exchange = connect.oauth.exchangeCode
  vi.spyOn(connect.oauth, 'exchangeCode').mockImplementation(async (flow) => {
    isFull = true
    return exchange(flow)
  })
  const page = await visitor.follow(await visitor.get(url))
  expect([new URL(page.url).pathname, page.status]).toEqual(['/connect/failed', 503])
  expect(page.url).not.toMatch(/code=|state=/)
  expect(page.text).toContain('granted access')
  isFull = false
  await connect.vault.idle()
  expect(await connectionsOf(app, visitor)).toMatchObject([{ bxcontext: 'harbour-homes', status: 'active' }])
  // Opening the callback again shows how the first visit ended.
  expect((await visitor.follow(await visitor.get(url))).text).toContain('granted access')
})

test('a consent is stored by a process that stops and has no time left when the tokens arrive', async () => {
  const stopping = await startAll({}, { slowMs: 300 })
  const visitor = await signedIn(stopping)
  const url = await toCallback(stopping, visitor)
  await stopping.fault('exchange', 'slow', 1)
  const { connect, store } = stopping.services
  const sent = vi.spyOn(connect.oauth, 'exchangeCode')
  const write = store.compareAndSet
  vi.spyOn(store, 'compareAndSet').mockImplementation((...of) => pause(50).then(() => write(...of)))
  const answer = visitor.get(url)
  await expect.poll(() => sent.mock.calls.length).toBe(1)
  await stopping.services.close({ graceMs: 0 })
  await answer
  const later = openSqlite({ file: join(stopping.config.dataDir, 'store.sqlite') })
  expect(await later.list(connectionKind(platform.name), 'ann')).toHaveLength(1)
  await later.close()
  await stopping.close()
})
