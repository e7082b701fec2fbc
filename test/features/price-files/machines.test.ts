import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type KeyValueStore, openRedis } from '../../../src/connect/stores.ts'
import type { Item } from '../../../src/features/price-files/contract.ts'
import type { Imports } from '../../../src/features/price-files/imports.ts'
import { tempDir } from '../../support/env.ts'
import { REDIS, withRedis } from '../../support/programs.ts'
import { type RedisServer, ready, startRedis } from '../../support/redis.ts'
import { confirmFile, openImports, send, upload, uploadOnly } from './service-support.ts'

let redis: RedisServer
let closings: (() => unknown)[]
/** What the platform has received. */
let sent: Item[]
beforeEach(async () => {
  if (!REDIS) return
  redis = await startRedis()
  closings = [redis.close]
  sent = []
})
afterEach(async () => {
  for (const close of closings.splice(0).reverse()) await close()
})

interface Machine {
  imports: Imports
  store: KeyValueStore
}

/** A machine with a folder of its own; all of them use one Redis. */
async function startMachine(limits: { quotaBytes?: number; totalBytes?: number } = {}): Promise<Machine> {
  const { dir, remove } = tempDir()
  const store = await openRedis({ urls: [redis.url] })
  await ready(store)
  const platform = {
    uploadItems: async (_source: unknown, _catalogue: string, _batch: string, body: unknown) => {
      sent.push(...JSON.parse(Buffer.from(body as Uint8Array).toString()).items)
      return undefined
    },
  }
  const imports = openImports(store, dir, platform, limits)
  closings.push(
    remove,
    () => store.close(),
    () => imports.sender.close(),
  )
  return { imports, store }
}

const prices = (...lines: string[]) => ['Code,Price,Cost', ...lines].join('\n')
const random = (rows: number) =>
  prices(
    ...Array.from({ length: rows }, () => `${Math.random().toString(36).slice(2)},${Math.random() * 100},1`),
  )

describe.skipIf(!REDIS)(`machines without a shared folder${withRedis}`, () => {
  test('confirm and send what another one has received and checked, show its report, and discard it', async () => {
    const [one, two] = [await startMachine(), await startMachine()]
    const id = await uploadOnly(one.imports, 'Code,Price\nA,1.50\nB,2\nC,wrong\n')
    await confirmFile(two.imports, id)
    const problems = async ({ imports }: Machine) =>
      (await imports.reading(await imports.get('sam', id)))?.problems
    expect(await problems(one)).toMatchObject([{ line: 4 }])
    await send(one.imports, id)
    expect(await two.imports.get('sam', id)).toMatchObject({ state: 'completed' })
    expect(sent).toHaveLength(2)
    expect(await problems(two)).toMatchObject([{ line: 4 }])
    await one.imports.discard('sam', id)
    expect(await one.store.ofOwner(id)).toEqual([])
  })

  test('know the layout of the last file, whichever machine it was confirmed on', async () => {
    const [one, two] = [await startMachine(), await startMachine()]
    await upload(one.imports, prices('A,1,10'))
    const next = await uploadOnly(two.imports, prices('A,2,10'))
    expect(await two.imports.get('sam', next)).toMatchObject({ confirmed: { by: 'Sam' }, validRows: 1 })
  })

  test('count the files of a user together', async () => {
    const [one, two] = [
      await startMachine({ quotaBytes: 12_000 }),
      await startMachine({ quotaBytes: 12_000 }),
    ]
    const id = await upload(one.imports, prices('A,1,10'))
    await expect(uploadOnly(two.imports, random(400))).rejects.toMatchObject({
      code: 'upload_quota_exceeded',
    })
    await one.imports.discard('sam', id)
    await uploadOnly(two.imports, random(200))
  })

  test('refuse files when those of all users take too much space, and accept them again after some are gone', async () => {
    const limits = { totalBytes: 60_000 }
    const [one, two] = [await startMachine(limits), await startMachine(limits)]
    const ids: string[] = []
    let refused: unknown
    while (!refused && ids.length < 20) {
      const { imports } = ids.length % 2 ? one : two
      const [result] = await Promise.allSettled([uploadOnly(imports, random(400), `user ${ids.length}`)])
      if (result.status === 'rejected') refused = result.reason
      ids.push(result.status === 'fulfilled' ? result.value : '')
    }
    const last = `user ${ids.length - 1}`
    expect(refused).toMatchObject({ code: 'storage_full', status: 507 })
    expect(await one.store.list('import', last)).toEqual([])
    await one.imports.discard('user 0', ids[0] ?? '')
    await uploadOnly(two.imports, random(400), last)
  })

  test('refuse to send items that are gone', async () => {
    const one = await startMachine()
    const id = await upload(one.imports, prices('A,1,10'))
    for (const { key } of await one.store.ofOwner(id)) await one.store.delete(key)
    expect(await send(one.imports, id)).toMatchObject({
      state: 'failed',
      failure: expect.stringContaining('no longer available'),
    })
    expect(sent).toEqual([])
  })

  test('delete an import that nobody has finished for a month', async () => {
    const one = await startMachine()
    const id = await upload(one.imports, prices('A,1,10'))
    vi.useFakeTimers({ now: Date.now() + 32 * 86_400_000, toFake: ['Date'] })
    await one.imports.clean()
    vi.useRealTimers()
    await expect(one.imports.get('sam', id)).rejects.toMatchObject({ status: 404 })
    expect(await one.store.ofOwner(id)).toEqual([])
  })
})
