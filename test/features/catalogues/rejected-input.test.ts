import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Running, startAll } from '../../support/app.ts'
import { connected } from '../../support/flow.ts'
import type { Visitor } from '../../support/visitor.ts'

const AT = '/connections/summit-supplies/catalogues'

let app: Running
let supplier: Visitor
beforeAll(async () => {
  app = await startAll()
  supplier = await connected(app, {
    name: 'sam',
    bxcontext: 'summit-supplies',
    email: 'priya@summit.example',
  })
})
afterAll(() => app.close())

const post = async (path: string, form: Record<string, string>) =>
  (await supplier.post(app.url + AT + path, { form, accept: 'application/json' })).json()

test.each([
  ['name', { name: '', scope: 'Public' }],
  ['scope', { name: 'x', scope: 'Secret' }],
])('a new catalogue with a bad %s is refused by its name', async (field, form) => {
  expect(await post('', form)).toMatchObject({ status: 400, field })
})

test('a grant needs an ExternalRef of letters and digits, around which spaces are ignored', async () => {
  const { id } = await post('', { name: 'Fresh', scope: 'Managed' })
  const grant = (externalRef: string) => post(`/${id}/access-controls`, { externalRef })
  expect(await grant('no-dashes')).toMatchObject({ status: 400, field: 'externalRef' })
  expect(await grant('')).toMatchObject({ status: 400, field: 'externalRef' })
  expect(await grant(' CUST1 ')).toMatchObject({ externalRef: 'CUST1', isPreApproved: false })
})
