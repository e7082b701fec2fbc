import { readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { appOwner, type KeyValueStore, openRedis } from '../../../src/connect/stores.ts'
import type { Item } from '../../../src/features/price-files/contract.ts'
import { createImportService, type ImportService } from '../../../src/features/price-files/import-service.ts'
import { createSharedFiles } from '../../../src/features/price-files/shared-files.ts'
import { createLog } from '../../../src/runtime/log.ts'
import { tempDir } from '../../support/env.ts'
import { REDIS, withRedis } from '../../support/programs.ts'
import { type RedisServer, ready, startRedis } from '../../support/redis.ts'

const REF = { userId: 'sam', bxcontext: 'summit-supplies' }
const LOG = createLog('silent')
const token = async () => 'token'
const SOURCE = {
  accessToken: token,
  refresh: token,
  grantedScopes: async () => null,
  noteCall: async () => {},
}

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
  imports: ImportService
  store: KeyValueStore
  dir: string
}

/** A machine with a folder of its own; all of them use one Redis. */
async function startMachine({ totalBytes = 5_000_000, quotaBytes = 5_000_000 } = {}): Promise<Machine> {
  const { dir, remove } = tempDir()
  const store = await openRedis({ urls: [redis.url] })
  await ready(store)
  const imports = createImportService({
    store,
    dir,
    maxBytes: 1_000_000,
    quotaBytes,
    totalBytes,
    catalogueImports: {
      start: async (_source, _id, batchId) => ({ batchId, status: 'Started' }),
      uploadItems: async (_source, _catalogue, _batch, body) => {
        sent.push(...(JSON.parse(Buffer.from(body as Uint8Array).toString()) as { items: Item[] }).items)
      },
      get: async () => ({ status: 'Completed' }),
    },
    source: () => SOURCE,
    log: LOG,
  })
  closings.push(
    remove,
    () => store.close(),
    () => imports.close(),
  )
  return { imports, store, dir }
}

async function upload({ imports }: Machine, text: string, userId = REF.userId): Promise<string> {
  async function* bytes() {
    yield Buffer.from(text)
  }
  const to = { catalogue: { id: '1', name: 'Fresh' }, fileName: 'prices.csv' }
  const { id } = await imports.upload({ ...REF, userId }, to, bytes())
  await imports.settled(id, 20_000)
  return id
}
const prices = (...lines: string[]) => ['Code,Price,Cost', ...lines].join('\n')
const keysOfFiles = async ({ store }: Machine, id: string) =>
  (await store.ofOwner(id)).map(({ key }) => key.kind).filter((kind) => kind.startsWith('import-'))

describe.skipIf(!REDIS)(`machines without a shared folder${withRedis}`, () => {
  test('send what another one has received and checked, show its report, and discard it', async () => {
    const [one, two] = [await startMachine(), await startMachine()]
    const id = await upload(one, 'Code,Price\nA,1.50\nB,2\nC,wrong\n')
    expect(readFileSync(await two.imports.report('sam', id), 'utf8')).toContain('wrong')
    await two.imports.start('sam', id)
    await two.imports.settled(id, 10_000)
    expect(await one.imports.get('sam', id)).toMatchObject({ state: 'completed' })
    expect(sent).toHaveLength(2)
    expect(readFileSync(await one.imports.report('sam', id), 'utf8')).toContain('wrong')
    await one.imports.discard('sam', id)
    expect(await keysOfFiles(one, id)).toEqual([])
  })

  test('send the items of the latest check, also if they have those of an earlier one', async () => {
    const [one, two] = [await startMachine(), await startMachine()]
    const id = await upload(one, prices('A,1,10', 'B,2,20'))
    await two.imports.choose('sam', id, { columns: { code: 0, price: 2 } })
    await two.imports.settled(id, 10_000)
    await one.imports.start('sam', id)
    await one.imports.settled(id, 10_000)
    expect(JSON.stringify(sent)).toContain('20')
    expect(JSON.stringify(sent)).not.toContain('"A","price":1,')
    expect(sent.map((item) => Object.values(item).filter((value) => typeof value === 'number'))).toEqual([
      [10],
      [20],
    ])
  })

  test('take over the work of one that died', async () => {
    const [one, two] = [await startMachine(), await startMachine()]
    const id = await upload(one, prices('A,1,10'))
    const job = (await one.imports.get('sam', id)) as object
    const { interrupted: _, ...record } = { ...job, state: 'running' } as Record<string, unknown>
    // As a killed process leaves it.
    await one.store.set({ kind: 'import', owner: 'sam', id }, JSON.stringify(record))
    await one.store.set({ kind: 'active-import', owner: appOwner('imports'), id }, 'sam')
    await two.imports.takeOver()
    await two.imports.settled(id, 10_000)
    expect(await one.imports.get('sam', id)).toMatchObject({ state: 'completed' })
  })

  test('do not read a file again whose reader has died, until its user uploads or reads it again', async () => {
    const [one, two] = [await startMachine(), await startMachine()]
    const id = await upload(one, prices('A,1,10'))
    const { interrupted: _, ...record } = await one.imports.get('sam', id)
    // As a process leaves it that is killed while it reads.
    const killed = { ...record, state: 'checking', isBeingRead: true }
    await one.store.set({ kind: 'import', owner: 'sam', id }, JSON.stringify(killed))
    await one.store.set({ kind: 'active-import', owner: appOwner('imports'), id }, 'sam')
    await two.imports.takeOver()
    await two.imports.settled(id, 10_000)
    expect(await one.imports.get('sam', id)).toMatchObject({
      state: 'unreadable',
      rows: 0,
      failure: expect.stringContaining('does not check it again by itself'),
    })
    await two.imports.resume()
    await one.imports.takeOver()
    expect(await one.imports.get('sam', id)).toMatchObject({ state: 'unreadable' })
    await two.imports.choose('sam', id)
    await two.imports.settled(id, 10_000)
    expect(await one.imports.get('sam', id)).toMatchObject({ state: 'ready', validRows: 1 })
  })

  test('know the items of the last file, whichever machine sent it', async () => {
    const [one, two] = [await startMachine(), await startMachine()]
    const id = await upload(one, prices('A,1,10', 'B,2,20'))
    await one.imports.start('sam', id)
    await one.imports.settled(id, 10_000)
    const next = await upload(two, prices('A,1,10'))
    expect((await two.imports.get('sam', next)).remarks.join()).toContain('1 missing')
  })

  test('count uploads and the quota of a user together', async () => {
    const [one, two] = [await startMachine({ quotaBytes: 3_000 }), await startMachine({ quotaBytes: 3_000 })]
    const file = prices(...Array.from({ length: 60 }, (_, i) => `code-${i},${i + 1},1`))
    await upload(one, file)
    await expect(upload(two, file.repeat(3))).rejects.toMatchObject({ code: 'upload_quota_exceeded' })
    for (let slot = 0; slot < 5; slot++)
      await one.store.set({ kind: 'upload', owner: 'sam', id: String(slot) }, '1', 60_000)
    await expect(upload(two, file)).rejects.toMatchObject({ code: 'conflict' })
  })

  test('refuse files when those of all users take too much space, and accept them again after some are gone', async () => {
    const [one, two] = [
      await startMachine({ totalBytes: 90_000 }),
      await startMachine({ totalBytes: 90_000 }),
    ]
    // Does not get much smaller by compression.
    const file = prices(
      ...Array.from({ length: 400 }, () => `${Math.random().toString(36).slice(2)},${Math.random() * 100},1`),
    )
    const ids: string[] = []
    let refused: unknown
    while (!refused && ids.length < 20) {
      const uploaded = upload(ids.length % 2 ? one : two, file, `user ${ids.length}`)
      const [result] = await Promise.allSettled([uploaded])
      if (result.status === 'rejected') refused = result.reason
      ids.push(result.status === 'fulfilled' ? result.value : '')
    }
    const last = `user ${ids.length - 1}`
    expect(refused).toMatchObject({ code: 'storage_full', status: 507 })
    expect(await one.store.list('import', last)).toEqual([])
    await one.imports.discard('user 0', ids[0] as string)
    await upload(two, file, last)
  })

  test('count the space anew at startup', async () => {
    const one = await startMachine()
    await upload(one, prices('A,1,10'))
    const total = { kind: 'import-files-total', owner: appOwner('imports'), id: '' }
    const before = await one.store.get(total)
    await one.store.set(total, '4999999')
    await (await startMachine()).imports.resume()
    expect(await one.store.get(total)).toBe(before)
  })

  test('refuse to send items that a stopped process has written over those of a later check', async () => {
    const [one, two] = [await startMachine(), await startMachine()]
    const id = await upload(one, prices('A,1,10', 'B,2,20'))
    await one.imports.choose('sam', id, { columns: { code: 0, price: 2 } })
    await one.imports.settled(id, 10_000)
    // As a process does that was stopped during an earlier check, and goes on now.
    const stale = createSharedFiles(two.store, 5_000_000)
    const path = join(two.dir, 'stale')
    writeFileSync(path, '{"items":[]}')
    await stale.put(id, 'items', path, 60_000)
    await expect(two.imports.start('sam', id)).rejects.toMatchObject({ status: 409 })
    expect(sent).toEqual([])
    await two.imports.choose('sam', id, { columns: { code: 0, price: 2 } })
    await two.imports.settled(id, 10_000)
    await two.imports.start('sam', id)
    await two.imports.settled(id, 10_000)
    expect(sent).toHaveLength(2)
  })

  test('have no report of an earlier check when a later one finds no problem', async () => {
    const one = await startMachine()
    const id = await upload(one, 'Code,Price,Cost\nA,wrong,10\nB,1,20\n')
    expect(await one.imports.report('sam', id)).toBeTruthy()
    await one.imports.choose('sam', id, { columns: { code: 0, price: 2 } })
    await one.imports.settled(id, 10_000)
    await expect(one.imports.report('sam', id)).rejects.toMatchObject({ status: 404 })
  })

  test('resume other jobs when one completes while there is no space, and count the space first', async () => {
    const one = await startMachine()
    const id = await upload(one, prices('A,1,10'))
    await one.imports.start('sam', id)
    await one.imports.settled(id, 10_000)
    const next = await upload(one, prices('B,1,10'))
    const { interrupted: _, ...job } = (await one.imports.get('sam', next)) as object as Record<
      string,
      unknown
    >
    await one.store.set(
      { kind: 'import', owner: 'sam', id: next },
      JSON.stringify({ ...job, state: 'running' }),
    )
    await one.store.set({ kind: 'import-files-total', owner: appOwner('imports'), id: '' }, '5000000')
    const two = await startMachine()
    await two.imports.resume()
    await two.imports.settled(next, 10_000)
    expect(await two.imports.get('sam', next)).toMatchObject({ state: 'completed' })
  })

  test('give one user a quarter of the space at most', async () => {
    const one = await startMachine({ totalBytes: 60_000, quotaBytes: 60_000 })
    const file = prices(
      ...Array.from({ length: 700 }, () => `${Math.random().toString(36).slice(2)},${Math.random() * 100},1`),
    )
    await expect(upload(one, file)).rejects.toMatchObject({ code: 'upload_quota_exceeded' })
    expect(await one.store.list('import', 'sam')).toEqual([])
  })

  test('give one user a quarter of the space at most, also by uploads at the same time on two machines', async () => {
    const totalBytes = 120_000
    const [one, two] = [await startMachine({ totalBytes }), await startMachine({ totalBytes })]
    const file = prices(
      ...Array.from({ length: 400 }, () => `${Math.random().toString(36).slice(2)},${Math.random() * 100},1`),
    )
    const uploads = await Promise.allSettled([one, two, one, two].map((machine) => upload(machine, file)))
    const refused = uploads.filter(({ status }) => status === 'rejected')
    expect(refused.length).toBeGreaterThan(0)
    for (const result of refused) expect(result).toMatchObject({ reason: { code: 'upload_quota_exceeded' } })
    const kept = await one.store.list('import', 'sam')
    expect(kept).toHaveLength(4 - refused.length)
    expect(kept.length).toBeGreaterThan(0)
  })

  test('delete the files of jobs that ended elsewhere', async () => {
    const [one, two] = [await startMachine(), await startMachine()]
    const id = await upload(one, prices('A,1,10'))
    await two.imports.start('sam', id)
    await two.imports.settled(id, 10_000)
    expect(readdirSync(one.dir).length).toBeGreaterThan(0)
    const anHourAgo = new Date(Date.now() - 3_700_000)
    for (const name of readdirSync(one.dir)) utimesSync(join(one.dir, name), anHourAgo, anHourAgo)
    await one.imports.takeOver()
    expect(readdirSync(one.dir)).toEqual([])
  })

  test('end a job whose file has expired', async () => {
    const one = await startMachine()
    const id = await upload(one, prices('A,1,10'))
    const { interrupted: _, ...job } = (await one.imports.get('sam', id)) as object as Record<string, unknown>
    const old = { ...job, state: 'running', createdAt: Date.now() - 31 * 86_400_000 }
    await one.store.set({ kind: 'import', owner: 'sam', id }, JSON.stringify(old))
    for (const { key } of await one.store.ofOwner(id)) await one.store.delete(key)
    for (const name of readdirSync(one.dir)) rmSync(join(one.dir, name))
    await one.imports.resume()
    expect(await one.imports.get('sam', id)).toMatchObject({ state: 'failed', interrupted: false })
  })
})
