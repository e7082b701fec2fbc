import { beforeAll, describe, expect, test } from 'vitest'
import { platform } from '../../../src/connect/index.ts'
import { texts } from '../../../src/features/catalogues/texts.ts'
import { sharedApp } from '../../support/app.ts'
import { connected, newUser, signedIn, toCallback } from '../../support/flow.ts'
import { expectBothFormats } from '../../support/pages.ts'
import type { Visitor } from '../../support/visitor.ts'

const { catalogues, leads } = platform.scopes

const app = await sharedApp()
let builder: Visitor
let supplier: Visitor
beforeAll(async () => {
  builder = await connected(app, { name: newUser() })
  const summit = { bxcontext: 'summit-supplies', email: 'priya@summit.example' }
  supplier = await connected(app, { name: newUser(), ...summit })
})

const JSON_TYPE = { accept: 'application/json' }
const at = (path = '', bxcontext = 'harbour-homes') => `${app.url}/connections/${bxcontext}/catalogues${path}`

describe('catalogues', () => {
  test.each([
    ['', texts.title],
    ['/harbour-homes-C100', 'Framing timber National 2026'],
  ])('%s: HTML for a browser and JSON for a client that asks for it', (path, heading) =>
    expectBothFormats(builder, at(path), heading),
  )

  test('are read with the granted token', async () => {
    const { items } = (await builder.get(at(), JSON_TYPE)).json()
    expect(items[0]).toMatchObject({ id: expect.any(String), name: expect.any(String) })
  })

  test('are searched by name, filtered by visibility and sorted, by the platform', async () => {
    const query = '?search=national&filter=Public&order=name'
    const { items } = (await builder.get(at(query), JSON_TYPE)).json()
    const names = items.map(({ name }: { name: string }) => name)
    expect(names.length).toBeGreaterThan(0)
    expect(names).toEqual(names.filter((name: string) => /national/i.test(name)).toSorted())
    expect(items.every(({ scope }: { scope: string }) => scope === 'Public')).toBe(true)
  })

  test("of a link with a builder's account number have it filled in, also after a search", async () => {
    const searched = await supplier.get(at('?account=HB1001&top=1', 'summit-supplies'))
    expect(searched.text).toContain('<input type="hidden" name="account" value="HB1001">')
    expect(searched.text).toMatch(/skip=1&amp;([^"]*&amp;)?account=HB1001/)
    const list = await supplier.get(at('?account=HB1001', 'summit-supplies'))
    const [, path = ''] = /href="([^"]*catalogues\/[^"]*\?account=HB1001)"/.exec(list.text) ?? []
    expect((await supplier.get(app.url + path)).text).toMatch(/name="externalRef"[^>]* value="HB1001"/)
  })

  test('are what the test of a connection counts if it has no other scope', async () => {
    const visitor = await signedIn(app, newUser())
    const form = { answer: 'accept', scope: catalogues }
    await visitor.get(await toCallback(app, visitor, { form }))
    const { total } = (await visitor.get(at(), JSON_TYPE)).json()
    const answer = await visitor.post(`${app.url}/connections/harbour-homes/test`, JSON_TYPE)
    expect(answer.json().summary).toBe(texts.tested(total))
  })

  test('that do not exist: 404 not_found', async () => {
    expect((await builder.get(at('/none'), JSON_TYPE)).json()).toMatchObject({
      status: 404,
      code: 'not_found',
    })
  })

  test('without the scope: 403 that names it, and one new consent grants it', async () => {
    const partial = await signedIn(app, newUser())
    await partial.get(await toCallback(app, partial, { form: { answer: 'accept', scope: leads } }))
    const denied = await partial.get(at(), JSON_TYPE)
    expect(denied.json()).toMatchObject({ status: 403, code: 'insufficient_scope', scope: catalogues })
    await partial.get(await toCallback(app, partial))
    expect((await partial.get(at())).status).toBe(200)
  })
})

describe('a form on a page of catalogues', () => {
  const post = async (path: string, form: Record<string, string>) =>
    (await supplier.post(at(path, 'summit-supplies'), { form, ...JSON_TYPE })).json()

  test.each([
    ['name', { name: '', scope: 'Public' }],
    ['scope', { name: 'x', scope: 'Secret' }],
  ])('with a bad %s is refused by its name', async (field, form) => {
    expect(await post('', form)).toMatchObject({ status: 400, field })
  })

  test('grants by an ExternalRef of letters and digits, around which spaces are ignored', async () => {
    const { id } = await post('', { name: 'Fresh', scope: 'Managed' })
    const grant = (externalRef: string) => post(`/${id}/access-controls`, { externalRef })
    for (const bad of ['no-dashes', ''])
      expect(await grant(bad)).toMatchObject({ status: 400, field: 'externalRef' })
    expect(await grant(' CUST1 ')).toMatchObject({ externalRef: 'CUST1', isPreApproved: false })
  })

  test('grants no access if the platform refuses it with status 200', async () => {
    const { id } = await post('', { name: 'Refused', scope: 'Managed' })
    app.answer(`/api/catalogues/${id}/accesscontrols`, { json: { isSuccessful: false } })
    expect(await post(`/${id}/access-controls`, { externalRef: 'CUST9' })).toMatchObject({
      code: 'platform_rejected',
    })
    expect((await supplier.get(at(`/${id}`, 'summit-supplies'))).text).not.toContain('CUST9')
  })

  test.each([
    ['', { name: '', scope: 'Managed' }, 'catalogue-name-error', 'selected'],
    ['/1/access-controls', { externalRef: 'no-hyphens' }, 'external-ref-error', 'value="no-hyphens"'],
  ])('that is rejected at %s comes back as it was typed', async (path, form, error, typed) => {
    const page = await supplier.post(at(path, 'summit-supplies'), { form: form as Record<string, string> })
    expect(page.status).toBe(400)
    expect(page.text).toContain(error)
    expect(page.text).toContain(typed)
  })
})
