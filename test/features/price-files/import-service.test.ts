/** The service alone: several machines on one store, each with a folder of its own, whose operations may fail. */
import { existsSync, mkdirSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { PlatformUnavailableError } from '../../../src/connect/errors.ts'
import type { KeyValueStore } from '../../../src/connect/stores.ts'
import type { CatalogueImports } from '../../../src/features/price-files/catalogue-imports.ts'
import { rejectedIn } from '../../../src/features/price-files/contract.ts'
import { running } from '../../../src/features/price-files/import.ts'
import type { Imports } from '../../../src/features/price-files/imports.ts'
import { turnKey } from '../../../src/features/price-files/run.ts'
import { waitingNotices } from '../../../src/web/notice.ts'
import { tempDir } from '../../support/env.ts'
import { createFaultyStore, forEachFault } from '../../support/faulty-store.ts'
import { rowsOf } from './pages-support.ts'
import { draftOf } from './read-support.ts'
import {
  answerFile,
  confirmFile,
  type Limits,
  openImports,
  REF,
  readingOf,
  send,
  settled,
  upload,
  uploadOnly,
} from './service-support.ts'

let faulty: ReturnType<typeof createFaultyStore>
beforeEach(() => {
  faulty = createFaultyStore()
  onTestFinished(() => faulty.store.close())
})
afterEach(() => faulty.heal())

function open(platform: Partial<CatalogueImports> = {}, limits: Limits = {}, store = faulty.store): Imports {
  const { dir, remove } = tempDir()
  const imports = openImports(store, dir, platform, limits)
  onTestFinished(() => imports.sender.close().then(remove))
  return imports
}
/** A price file of so many bytes, or a few more. */
const ofBytes = (bytes: number) => `code,name,price\nA,${'x'.repeat(bytes)},1\n`

describe('an import', () => {
  test('that is stopped just as the platform completes it keeps its file, and can be sent again', async () => {
    let stopped = false
    const imports = open({
      get: async () => {
        if (!stopped) await imports.stop('sam', id)
        stopped = true
        return { status: 'Completed' }
      },
    })
    const id = await upload(imports, rowsOf(10))
    expect(await send(imports, id)).toMatchObject({ state: 'stopped', failure: null })
    await imports.sender.close()
    expect(await waitingNotices(faulty.store, 'sam')).toBeNull()
    const next = open()
    expect(await send(next, id)).toMatchObject({ state: 'completed', failure: null })
    await vi.waitFor(async () => expect(await waitingNotices(faulty.store, 'sam')).toContain('10 items sent'))
  })

  test('that is stopped in the middle goes on after the last accepted batch when it is resumed', async () => {
    let uploads = 0
    const imports = open({
      uploadItems: async () => {
        if (++uploads === 3) await imports.stop('sam', id)
        return undefined
      },
      get: async () => ({ status: uploads < 6 ? 'Started' : 'Completed' }),
    })
    const id = await upload(imports, rowsOf(4_500))
    expect(await send(imports, id)).toMatchObject({ state: 'stopped', progress: { sent: 2_000 } })
    expect(await send(imports, id)).toMatchObject({
      state: 'completed',
      progress: { sent: 4_500, batches: 5 },
    })
    // The batch during which it was stopped was sent again.
    expect(uploads).toBe(6)
  })

  test('of which items were rejected can be sent again, with all items', async () => {
    const answers = [{ errors: [{ code: 'C2', message: 'price too high' }] }]
    const imports = open({ uploadItems: async () => rejectedIn(answers.shift()) })
    const id = await upload(imports, rowsOf(1_500))
    const failure = expect.stringMatching(/incomplete: the platform rejected 1 of 1500 items.*C2.*too high/)
    expect(await send(imports, id)).toMatchObject({ state: 'failed', failure })
    const progress = { sent: 1_500, batches: 2 }
    expect(await send(imports, id)).toMatchObject({ state: 'completed', progress })
  })

  test('whose process has died is taken over by another one, which goes on after the last accepted batch', async () => {
    const uploads: string[] = []
    const stalled = Promise.withResolvers<undefined>()
    const hanging = open({
      uploadItems: () => {
        uploads.push('first')
        return uploads.length === 1 ? Promise.resolve(undefined) : stalled.promise
      },
    })
    const id = await upload(hanging, rowsOf(2_500))
    await hanging.start('sam', id)
    await vi.waitFor(() => expect(uploads).toEqual(['first', 'first']))
    // As a killed process leaves it: without an end, and with a turn that has expired.
    await faulty.store.delete(turnKey('1'))
    const other = open({
      uploadItems: async () => void uploads.push('other'),
      get: async () => ({ status: uploads.length < 4 ? 'Started' : 'Completed' }),
    })
    expect(await settled(other, id)).toMatchObject({
      state: 'completed',
      progress: { sent: 2_500, batches: 3 },
    })
    stalled.resolve(undefined)
    // The first process, which is not really dead here, may have begun another one.
    expect(uploads.filter((by) => by === 'other')).toHaveLength(2)
  })

  test('whose turn is lost stops, and goes on when it is its turn again', async () => {
    let uploads = 0
    const platform = {
      uploadItems: async () => {
        if (uploads++ > 0) return undefined
        // As after an outage that lasted longer than the turn: its renewal finds that it is gone.
        await faulty.store.delete(turnKey('1'))
        await new Promise<void>((renewed) => {
          faulty.failBy((operation, kind) => {
            if (operation === 'compareAndSet' && kind === 'catalogue-import') setImmediate(renewed)
            return undefined
          })
        })
        return undefined
      },
    }
    const imports = open(platform, { turnMs: 1_500 })
    const id = await upload(imports, rowsOf(1_500))
    expect(await send(imports, id)).toMatchObject({ state: 'completed' })
    // The first batch was sent again.
    expect(uploads).toBe(3)
  })

  test('that runs does not delay a shutdown, and the next process goes on with it', async () => {
    let isDown = true
    const platform = {
      uploadItems: async () => {
        if (isDown) throw new PlatformUnavailableError('error', 'the API answered 500', 100_000)
        return undefined
      },
    }
    const [one, next] = [open(platform), open(platform)]
    const id = await upload(one, rowsOf(3_000))
    await one.start('sam', id)
    const waiting = async () => expect((await one.get('sam', id)).progress?.waiting).toMatch(/an error/)
    await vi.waitFor(waiting, { timeout: 60_000 })
    await one.sender.close()
    expect(await next.get('sam', id)).toMatchObject({ state: 'running' })
    isDown = false
    expect(await settled(next, id)).toMatchObject({ state: 'completed', progress: { sent: 3_000 } })
  })

  test('is not confirmed with an answer about another reading of its file', async () => {
    const imports = open()
    const id = await uploadOnly(imports, rowsOf(3))
    await answerFile(imports, id)
    const [job, reading] = await readingOf(imports, id)
    // Meanwhile, in another tab: the prices include tax.
    await answerFile(imports, id, { tax: 10 })
    await expect(imports.answer(job, draftOf(reading))).rejects.toMatchObject({ status: 409 })
    await expect(imports.confirm('sam', id, job.checkId)).rejects.toMatchObject({
      status: 409,
    })
    await imports.confirm('sam', id)
    const [{ draft }, sent] = await readingOf(imports, id)
    expect(draft.tax).toBe(10)
    expect(sent.draft).toEqual(draft)
    const next = await imports.get('sam', await uploadOnly(imports, rowsOf(3)))
    expect(next.draft).toEqual(draft)
  })

  test('sends nothing before a person has confirmed how the file is read, by whatever state it is in', async () => {
    const uploads: unknown[] = []
    const imports = open({ uploadItems: async (...call) => void uploads.push(call) })
    const id = await uploadOnly(imports, rowsOf(3))
    await expect(imports.start('sam', id)).rejects.toMatchObject({ status: 400 })
    const job = await imports.get('sam', id)
    for (const state of ['failed', 'stopped'] as const)
      expect(() => running({ ...job, state }, undefined)).toThrow('Confirm how the file is read')
    expect(uploads).toEqual([])
  })

  test('whose items are gone says so, and sends nothing', async () => {
    const uploads: unknown[] = []
    const imports = open({ uploadItems: async (...call) => void uploads.push(call) })
    const id = await upload(imports, rowsOf(3))
    for (const { key } of await faulty.store.ofOwner(id)) await faulty.store.delete(key)
    const failure = expect.stringContaining('no longer available')
    expect(await send(imports, id)).toMatchObject({ state: 'failed', failure })
    expect(uploads).toEqual([])
  })

  test('is kept while it is among the last 20 of its user', async () => {
    const imports = open()
    const ids: string[] = []
    for (let count = 0; count < 21; count++) {
      vi.useFakeTimers({ now: Date.now() + 1_000, toFake: ['Date'] })
      ids.push(await uploadOnly(imports, rowsOf(1)))
    }
    vi.useRealTimers()
    expect((await imports.list(REF)).map(({ id }) => id)).toEqual(ids.slice(1).reverse())
    expect(await faulty.store.ofOwner(ids[0] ?? '')).toEqual([])
  })

  test('that nobody has finished for a month is deleted', async () => {
    const imports = open()
    const id = await upload(imports, rowsOf(3))
    vi.useFakeTimers({ now: Date.now() + 32 * 86_400_000, toFake: ['Date'] })
    await imports.clean()
    vi.useRealTimers()
    await expect(imports.get('sam', id)).rejects.toMatchObject({ status: 404 })
    expect(await faulty.store.ofOwner(id)).toEqual([])
  })
})

describe('machines without a shared folder', () => {
  test('confirm and send what another one has received and checked, show its report, and discard it', async () => {
    const sent: string[] = []
    const uploadItems: CatalogueImports['uploadItems'] = async (_source, _id, _batch, body) =>
      void sent.push(Buffer.from(body).toString())
    const [one, two] = [open({ uploadItems }), open({ uploadItems })]
    const id = await uploadOnly(one, 'Code,Price\nA,1.50\nB,2\nC,wrong\n')
    await confirmFile(two, id)
    const problems = async (imports: Imports) =>
      (await imports.reading(await imports.get('sam', id)))?.problems
    expect(await problems(one)).toMatchObject([{ line: 4 }])
    await send(one, id)
    expect(await two.get('sam', id)).toMatchObject({ state: 'completed' })
    expect(sent).toEqual(['{"items":[{"code":"A","price":1.5},{"code":"B","price":2}]}'])
    expect(await problems(two)).toMatchObject([{ line: 4 }])
    await one.discard('sam', id)
    expect(await faulty.store.ofOwner(id)).toEqual([])
  })

  test.each([
    ['one user', 'discarded', 'sam', { quotaBytes: 1_500 }, { status: 413, code: 'upload_quota_exceeded' }],
    ['all users', 'completed', 'alex', { totalBytes: 1_500 }, { status: 507, code: 'storage_full' }],
  ])(
    'refuse a file when those of %s take too much space, and take it again when one is %s',
    async (_name, end, other, limits, refused) => {
      const [one, two] = [open({}, limits), open({}, limits)]
      const id = await uploadOnly(one, ofBytes(1_000))
      await expect(uploadOnly(two, ofBytes(1_000), other)).rejects.toMatchObject(refused)
      expect(await two.ofUser(other)).toHaveLength(other === 'sam' ? 1 : 0)
      if (end === 'discarded') await one.discard('sam', id)
      else await confirmFile(one, id).then(() => send(one, id))
      await vi.waitFor(() => uploadOnly(two, ofBytes(1_000), other))
    },
  )
})

test('a user has at most five uploads at once, and others go on', async () => {
  const imports = open()
  const stalled = Promise.withResolvers<void>()
  async function* bytes() {
    await stalled.promise
    yield Buffer.from(rowsOf(1))
  }
  const to = { catalogue: { id: '1' }, fileName: 'prices.csv' }
  const five = Array.from({ length: 5 }, () => imports.upload(REF, to, bytes()))
  await expect(uploadOnly(imports, rowsOf(1))).rejects.toMatchObject({ status: 409, code: 'conflict' })
  expect(await uploadOnly(imports, rowsOf(1), 'alex')).toEqual(expect.any(String))
  stalled.resolve()
  expect(await Promise.all(five)).toHaveLength(5)
})

test('what a killed process left in the folder is deleted', async () => {
  const { dir, remove } = tempDir()
  const orphan = join(dir, 'check-killed')
  mkdirSync(orphan)
  utimesSync(orphan, 0, 0)
  await uploadOnly(openImports(faulty.store, dir), rowsOf(1))
  expect(existsSync(orphan)).toBe(false)
  remove()
})

describe('while the store fails,', () => {
  /** Lets each operation of the store fail while `act` works on an import, and then checks what became of it. */
  const whateverFails = (
    act: (imports: Imports, id: string) => Promise<unknown>,
    check: (imports: Imports, id: string, store: KeyValueStore) => Promise<void>,
  ) =>
    forEachFault(async (failing, moment) => {
      const { store, failOnce, heal, count } = createFaultyStore()
      const imports = open({}, { turnMs: 1_500 }, store)
      const id = await uploadOnly(imports, rowsOf(1))
      await answerFile(imports, id)
      failOnce(failing, moment)
      await act(imports, id).catch((error) => expect(error).toMatchObject({ code: 'store_unavailable' }))
      const operations = count()
      heal()
      await check(imports, id, store)
      return operations
    })

  test('an import that is confirmed and sent, again if that was refused, is completed, and its layout known, whatever has failed', () =>
    whateverFails(
      async (imports, id) => {
        await imports.confirm('sam', id)
        await send(imports, id)
      },
      async (imports, id) => {
        const { confirmed, state } = await imports.get('sam', id)
        if (!confirmed) await imports.confirm('sam', id)
        const job = await (state === 'ready' ? send : settled)(imports, id)
        const progress = { sent: 1, batches: 1 }
        expect(job).toMatchObject({ state: 'completed', failure: null, progress })
        const next = await imports.get('sam', await uploadOnly(imports, rowsOf(2)))
        expect(next.confirmed).toMatchObject({ at: expect.any(String) })
      },
    ))

  test('deleting all of a user again leaves nothing, whatever has failed', () =>
    whateverFails(
      (imports) => imports.deleteAll('sam'),
      async (imports, id, store) => {
        await imports.deleteAll('sam')
        expect(await store.ofOwner('sam')).toEqual([])
        expect(await store.ofOwner(id)).toEqual([])
      },
    ))

  test('an upload that cannot be stored to its end can be repeated, and what is left of it deleted', async () => {
    const imports = open()
    let isDown = false
    faulty.failBy((operation, kind) => {
      if (isDown) return 'before'
      isDown = operation === 'set' && kind === 'import-part'
      return isDown ? 'after' : undefined
    })
    await expect(uploadOnly(imports, rowsOf(1))).rejects.toMatchObject({ code: 'store_unavailable' })
    faulty.heal()
    const [left] = await imports.list(REF)
    await expect(imports.start('sam', left?.id ?? '')).rejects.toMatchObject({ status: 400 })
    await uploadOnly(imports, rowsOf(1))
    await imports.deleteAll('sam')
    expect(await faulty.store.ofOwner('sam')).toEqual([])
    expect(await faulty.store.ofOwner(left?.id ?? '')).toEqual([])
  })

  test('an upload is stored although old imports cannot be deleted', async () => {
    let lists = 0
    faulty.failBy((operation, kind) =>
      operation === 'list' && kind === 'import' && ++lists > 1 ? 'before' : undefined,
    )
    await expect(uploadOnly(open(), rowsOf(1))).resolves.toEqual(expect.any(String))
  })
})
