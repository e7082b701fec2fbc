import { expect, test, vi } from 'vitest'
import { texts } from '../../../src/web/texts.ts'
import { sharedApp } from '../../support/app.ts'
import { connectionsOf, newUser, SCOPES, signedIn, toBxcontext } from '../../support/flow.ts'
import { shown } from '../../support/pages.ts'
import { consent } from '../../support/vault.ts'
import type { Visitor } from '../../support/visitor.ts'

const app = await sharedApp()
const LIST = `${app.url}/connections`
const JSON_TYPE = { accept: 'application/json' }

/** A visitor with this many connections. The oldest connection comes first. */
async function withConnections(count: number): Promise<{ name: string; visitor: Visitor }> {
  const name = newUser()
  for (let i = 0; i < count; i++) {
    const businessName = `Business ${String(i).padStart(2, '0')}`
    const granted = { businessName, scopes: SCOPES }
    await consent(app.services.connect.vault, granted, { userId: name, bxcontext: `b${i}` })
  }
  return { name, visitor: await signedIn(app, name) }
}

const headingsIn = (text: string) =>
  [...text.matchAll(/<h2 id="title-[^"]*">([^<]*)/g)].map(([, name]) => name)
const liveIn = (text: string) => /data-live="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&')

test('a user with many connections sees 25 of them, and can search, sort, and open the next page', async () => {
  const { visitor } = await withConnections(27)
  const first = await visitor.get(LIST)
  expect(headingsIn(first.text)).toHaveLength(25)
  expect(first.text).toContain(shown(texts.pager.range(1, 25, 27)))
  const second = await visitor.get(`${LIST}?top=25&skip=25&order=name`)
  expect(headingsIn(second.text)).toEqual(['Business 25', 'Business 26'])
  expect(headingsIn((await visitor.get(`${LIST}?search=ness+07`)).text)).toEqual(['Business 07'])
  const none = await visitor.get(`${LIST}?search=nobody`)
  expect(none.text).toContain(shown(texts.list.nothingFound))
  expect((await visitor.get(`${LIST}?order=size`)).status).toBe(400)
})

test('whoever sees all connections at once gets no controls', async () => {
  const { visitor } = await withConnections(2)
  const { text } = await visitor.get(LIST)
  expect(text).not.toContain('role="search"')
  expect(text).not.toContain('class="pager"')
})

test('programs get the same pages', async () => {
  const { visitor } = await withConnections(27)
  const page = (await visitor.get(`${LIST}?top=20&order=name`, JSON_TYPE)).json()
  expect(page).toMatchObject({ total: 27, next: { skip: 20 } })
  expect(page.items).toHaveLength(20)
  expect(page.items[0]).toMatchObject({ name: 'Business 00', status: 'active' })
  expect(await connectionsOf(app, visitor)).toHaveLength(25)
})

test('an open page asks no feature, and learns of a change of what it shows', async () => {
  const links = vi.fn(async () => [])
  for (const part of app.services.parts)
    if (part.connectionLinks) vi.spyOn(part, 'connectionLinks').mockImplementation(links)
  const { name, visitor } = await withConnections(27)
  const { text } = await visitor.get(LIST)
  const asked = links.mock.calls.length
  expect(asked).toBeGreaterThan(0)
  const version = async () => (await visitor.get(app.url + liveIn(text))).json().version
  const before = await version()
  // It is on the second page.
  await app.services.connect.vault.label({ userId: name, bxcontext: 'b0' }, 'Elsewhere')
  expect(await version()).toBe(before)
  await app.services.connect.vault.label({ userId: name, bxcontext: 'b26' }, 'Here')
  expect(await version()).not.toBe(before)
  expect(links.mock.calls.length).toBe(asked)
})

test('a form on a page leads back to that page; one that is refused is shown there, or where its connection is now', async () => {
  const { visitor } = await withConnections(27)
  const page = '?top=25&skip=25&order=name'
  const form = (label: string) => ({ form: { connection: 'b26', label, shown: '' } })
  const saved = await visitor.post(`${LIST}/b26/label${page}`, form('Shop'))
  expect(saved.headers.get('location')).toBe(`/connections${page}`)
  const tooLong = 'x'.repeat(61)
  for (const query of ['?top=25&skip=25', page, '']) {
    const { status, text } = await visitor.post(`${LIST}/b26/label${query}`, form(tooLong))
    expect(status).toBe(400)
    expect(text).toContain(`value="${tooLong}"`)
  }
})

test('who has 10,000 connections is told so before the consent', async () => {
  const visitor = await signedIn(app, newUser())
  const returned = await toBxcontext(app, visitor)
  vi.spyOn(app.services.connect.vault, 'hasRoom').mockResolvedValue(false)
  const answer = await visitor.get(returned)
  expect(answer.status).toBe(409)
  expect(answer.text).toContain(shown(texts.connectErrors.too_many_connections.detail))
})
