/** Answers of the platform, and how the import ends after each. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { texts } from '../../../../../src/features/supplier/catalogue-files/import-texts.ts'
import { fileOf, itemsIn, type Pages, quoting, SAM, startPages } from './support.ts'

let pages: Pages
let to: string
let catalogues = 0
beforeAll(async () => {
  pages = await startPages()
})
afterAll(() => pages.app.close())
beforeEach(async () => {
  await pages.app.clear()
  to = await pages.newCatalogue(`Catalogue ${++catalogues}`)
})

type Answer = Parameters<Pages['app']['answer']>[1]
const { failures } = texts
const unclear = (words: string) => quoting(failures.unclear, words)

/** Sends three items to a platform that answers this to the upload, or to the poll. Resolves to the import when it is over. */
async function sendTo(answers: { start?: Answer; upload?: Answer; poll?: Answer }, items = 3) {
  const { id } = await pages.check(to, fileOf(items))
  const path = `/api/catalogues/${to}/import`
  if (answers.start) pages.app.answer(`${path}/start`, answers.start)
  if (answers.upload) pages.app.answer(`${path}/${id}.1/items`, answers.upload)
  if (answers.poll) pages.app.answer(`${path}/${id}.1`, answers.poll)
  expect(await pages.send(to)).toBe(202)
  return pages.reaches(to, 'completed', 'failed')
}

describe('an upload that is answered', () => {
  test.each<[string, Answer]>([
    ['with an empty body', { status: 204, text: '' }],
    ['with {}', { json: {} }],
    ['with the number of items that it received', { json: { received: '3', errors: [] } }],
    ['as successful', { json: { isSuccessful: true, error: null, batchId: 'b' } }],
    [
      'with a status and no failures',
      { json: { status: 'Accepted', message: 'ok', failed: 0, hasErrors: false } },
    ],
  ])('%s has arrived', async (_name, upload) => {
    // The upload itself did not reach the sandbox, whose job therefore stays empty.
    const poll = { json: { status: 'Completed' } }
    expect(await sendTo({ upload, poll })).toMatchObject({ state: 'completed', message: null })
  })

  test.each<[string, Answer, string]>([
    ['with other counts', { json: { accepted: 997, total: 1000 } }, 'accepted: 997; total: 1000'],
    ['with errors by code', { json: { errors: { C1: ['no unit'] } } }, 'no unit'],
    ['with rejected items', { json: { rejected: [{ code: 'C2', message: 'too high' }] } }, 'too high'],
    ['with the place of a rejected item', { json: { rejected: [0] } }, 'rejected'],
    ['with fewer items than were sent', { json: { received: 2 } }, 'received: 2'],
    ['with a status for each item', { status: 207, json: [{ code: 'C1', status: 422 }] }, 'status: 422'],
    ['with null for a list', { json: { received: null, failed: 1 } }, 'failed: 1'],
    ['as no success', { json: { success: false, message: 'Invalid price in item 3' } }, 'Invalid price'],
    ['with a status of failure', { json: { status: 'failed' } }, 'status: failed'],
    ['with an outcome', { json: { outcome: 'rejected' } }, 'outcome: rejected'],
    ['as not ok', { json: { ok: false } }, 'ok: false'],
    ['with no accepted items', { json: { accepted: 0 } }, 'accepted: 0'],
    ['with no imported items, as a text', { json: { imported: '0' } }, 'imported: 0'],
    ['with a note', { json: { note: '3 items were not stored' } }, '3 items were not stored'],
  ])('%s ends the import with the platform’s words', async (_name, upload, words) => {
    expect(await sendTo({ upload })).toMatchObject({ state: 'failed', message: unclear(words) })
  })

  test.each<[string, Answer, string]>([
    ['as not successful', { json: { isSuccessful: false, message: 'closed' } }, 'closed'],
    ['with an error', { json: { error: 'catalogue_locked' } }, 'catalogue_locked'],
  ])('%s is refused, in the platform’s words', async (_name, upload, words) => {
    const message = quoting((said) => failures.uploadRefused('C0', said), words)
    expect(await sendTo({ upload })).toMatchObject({ state: 'failed', message })
  })

  test.each(['Done: 2 of 3', '<html>Please wait</html>'])(
    'with %s in place of JSON is sent again, because only a proxy may have seen it',
    async (text) => {
      expect(await sendTo({ upload: { text } })).toMatchObject({ state: 'completed', message: null })
      expect((await itemsIn(pages.app.platform, to)).size).toBe(3)
    },
  )

  test('with a Retry-After is not sent again before that', async () => {
    const before = performance.now()
    await sendTo({ upload: { status: 429, json: {}, headers: { 'retry-after': '2' } } })
    expect(performance.now() - before).toBeGreaterThan(1_990)
  })

  test('with a refusal ends the import with its words and the first code, without the token', async () => {
    await pages.app.fault('item', 'refused', 1)
    const refused = (said: string) => failures.uploadRefused('C0', said)
    const job = await sendTo({})
    expect(job).toMatchObject({
      state: 'failed',
      sent: 0,
      message: quoting(refused, 'unit of C0'),
    })
    expect(job.message).toContain('Bearer …')
  })
})

test.each<[string, Answer]>([
  ['a refusal', { status: 422, json: { message: 'the catalogue is locked' } }],
  [
    'a success that says that it is none',
    { json: { isSuccessful: false, message: 'the catalogue is locked' } },
  ],
])('the start of an import that is answered with %s ends it, with the words', async (_name, start) => {
  expect(await sendTo({ start })).toMatchObject({
    state: 'failed',
    message: quoting(failures.startRefused, 'locked'),
  })
})

describe('an import of which the platform says', () => {
  const MORE = 'y'.repeat(600)
  test.each([
    { status: 'COMPLETE' },
    { status: 'Completed', itemsReceived: '3', itemsProcessed: '3', itemsFailed: '0', errors: [] },
    { status: 'Completed', id: 17, catalogueId: 4, createdBy: 'Priya', isFinal: true, links: {} },
    { status: 'Completed', itemsSkipped: 0, warnings: '0', isPublic: false },
  ])('%j is completed', async (poll) => {
    expect(await sendTo({ poll: { json: poll } })).toMatchObject({ state: 'completed', message: null })
  })

  test.each<[object, string]>([
    [{ status: 'CompletedWithErrors', message: '1 unit' }, failures.failed('CompletedWithErrors: 1 unit')],
    [{ status: 'Completed partially' }, failures.failed('Completed partially')],
    [{ status: 'completed', failedRows: '3' }, unclear('failedRows: 3')],
    [{ status: 'completed', failedRows: [0] }, unclear('failedRows')],
    [{ status: 'Completed', errors: [{ row: 1 }] }, unclear('row: 1')],
    [{ status: 'Completed', itemsProcessed: '2', message: 'no unit' }, unclear('itemsProcessed: 2')],
    [{ status: 'Completed', itemsReceived: 0 }, unclear('itemsReceived: 0')],
    [{ status: 'Failed', message: 'no space' }, failures.failed('Failed: no space')],
    [{ status: 'Cancelled' }, failures.failed('Cancelled')],
    [{ status: 'rejected by the owner' }, failures.failed('rejected by the owner')],
    [{ status: 'InternalError' }, failures.failed('InternalError')],
    [{ status: 'Completed', accepted: 997, total: 1000 }, unclear('status: Completed; accepted: 997')],
    [{ status: 'Completed', accepted: '997' }, unclear('997')],
    [{ status: 'Completed', errors: { C1: ['no unit'] } }, unclear('no unit')],
    [{ status: 'Completed', failures: 'three' }, unclear('three')],
    [{ status: 'completed', success: false }, unclear('success: false')],
    [{ status: 'completed', itemsImported: 0 }, unclear('itemsImported: 0')],
    [{ status: 'completed', outcome: 'rejected' }, unclear('outcome: rejected')],
    [{ status: 'Completed', itemsProcessed: { ok: 3 } }, unclear('')],
    [{ done: true, said: MORE }, unclear('done: true')],
  ])('%j has failed', async (poll, message) => {
    const job = await sendTo({ poll: { json: poll } })
    expect(job).toMatchObject({ state: 'failed', message })
    expect(job.message?.length).toBeLessThan(700)
  })

  test('Completed with a message shows the message', async () => {
    const poll = { json: { status: 'Completed', message: '2 units were converted' } }
    expect(await sendTo({ poll })).toMatchObject({ state: 'completed' })
    expect((await pages.visitor.get(pages.urlOf(to))).text).toContain('2 units were converted')
  })

  test.each(['Completed', 'Failed', 'Processing'])(
    '%s in words with our token is shown without it',
    async (state) => {
      const { vault } = pages.app.services.connect
      const token = await vault.accessToken({ userId: SAM.name, bxcontext: SAM.bxcontext })
      const message = `Bearer ${token}, ${encodeURIComponent(token)} or ${token}`
      const job = await sendTo({ poll: { json: { status: state, message } } })
      expect(JSON.stringify(job)).not.toContain(token)
    },
  )

  test.each(['Succeeded', 'Incomplete', 'Processing'])('%s is asked again', async (status) => {
    expect(await sendTo({ poll: { json: { status } } })).toMatchObject({ state: 'completed', message: null })
  })
})
