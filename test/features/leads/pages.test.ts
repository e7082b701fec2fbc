import { beforeAll, describe, expect, test } from 'vitest'
import { platform } from '../../../src/connect/index.ts'
import { texts } from '../../../src/features/leads/texts.ts'
import { format } from '../../../src/web/feature-api.ts'
import { texts as webTexts } from '../../../src/web/texts.ts'
import { sharedApp } from '../../support/app.ts'
import { connected, newUser } from '../../support/flow.ts'
import { expectBothFormats, shown } from '../../support/pages.ts'
import type { Visitor } from '../../support/visitor.ts'
import { ZODS_WORDS } from '../../support/words.ts'

const { catalogues, leads } = platform.scopes

const app = await sharedApp()
let visitor: Visitor
beforeAll(async () => {
  visitor = await connected(app, { name: newUser() })
})

const JSON_TYPE = { accept: 'application/json' }
const at = (path = '') => `${app.url}/connections/harbour-homes/leads${path}`

describe('leads', () => {
  test.each([
    ['', texts.title],
    ['/harbour-homes-L1000', 'Omar Walker'],
  ])('%s: HTML for a browser and JSON for a client that asks for it', (path, heading) =>
    expectBothFormats(visitor, at(path), heading),
  )

  test('are read with the granted token', async () => {
    const leads = (await visitor.get(at('?top=2&skip=1'), JSON_TYPE)).json()
    expect(leads.items).toHaveLength(2)
    expect(leads.total).toBeGreaterThan(30)
    expect((await visitor.get(at(`/${leads.items[0].id}`), JSON_TYPE)).json()).toEqual(leads.items[0])
  })

  test('are what the test of a connection counts', async () => {
    const { total } = (await visitor.get(at(), JSON_TYPE)).json()
    const answer = await visitor.post(`${app.url}/connections/harbour-homes/test`, JSON_TYPE)
    expect(answer.json().summary).toBe(texts.tested(total))
  })

  test('are paged, with the total', async () => {
    const first = (await visitor.get(at('?top=10'), JSON_TYPE)).json()
    const second = (await visitor.get(at('?top=10&skip=10'), JSON_TYPE)).json()
    expect(first.items).toHaveLength(10)
    expect(second.total).toBe(first.total)
    expect(second.items[0].id).not.toBe(first.items[0].id)
    const page = (await visitor.get(at('?top=10&skip=10'))).text
    expect(page).toContain(shown(webTexts.pager.range(11, 20, first.total)))
    expect(page).toContain('href="?top=10&amp;skip=0"')
    expect(page).toContain('href="?top=10&amp;skip=20&amp;')
  })

  test('are searched by name, filtered by status and sorted, by the platform', async () => {
    const leadsOf = async (query: string) => (await visitor.get(at(query), JSON_TYPE)).json()
    const all = await leadsOf('?top=100')
    const { name, status } = all.items[3]
    const found = await leadsOf(`?search=${encodeURIComponent(name.toUpperCase())}`)
    expect(found.items).toEqual(all.items.filter((lead: { name: string }) => lead.name === name))
    const filtered = await leadsOf(`?filter=${encodeURIComponent(status)}&top=100`)
    expect(filtered.items).toEqual(all.items.filter((lead: { status: string }) => lead.status === status))
    expect(filtered.total).toBe(filtered.items.length)
    const names = (await leadsOf('?order=name&top=100')).items.map((lead: { name: string }) => lead.name)
    expect(names).toEqual(names.toSorted())
    const none = (await visitor.get(at('?search=nobody'))).text
    expect(none).toContain(shown(webTexts.list.nothingFound))
    expect(none).toContain(`<a class="button quiet" href="?">${shown(webTexts.list.showAll)}</a>`)
    expect((await visitor.get(at())).text).not.toContain(shown(webTexts.list.showAll))
  })

  test('are searched for any text, which cannot leave its condition', async () => {
    const search = encodeURIComponent("O'Hara') or contains(name,'")
    const answer = await visitor.get(at(`?search=${search}`), JSON_TYPE)
    expect([answer.status, answer.json().total]).toEqual([200, 0])
  })

  test.each(['filter=Nonsense', 'order=size', `search=${'x'.repeat(101)}`, 'search=a&search=b'])(
    'with %s: 400 that names what is wrong',
    async (query) => {
      const answer = await visitor.get(at(`?${query}`), JSON_TYPE)
      expect(answer.json()).toMatchObject({ code: 'invalid_input', field: query.split('=')[0] })
    },
  )

  test('on a page after the last one: says how many there are, and links to the first page', async () => {
    const { items, total } = (await visitor.get(at('?skip=900'), JSON_TYPE)).json()
    expect(items).toEqual([])
    const { text } = await visitor.get(at('?skip=900'))
    expect(text).toContain(shown(webTexts.pager.noEntries(total)))
    expect(text).toContain(
      `<a class="button" href="?top=25&amp;skip=0">${shown(webTexts.pager.firstPage)}</a>`,
    )
    for (const no of ['–900', texts.none, webTexts.pager.previous]) expect(text).not.toContain(shown(no))
  })

  test('that do not exist: 404 not_found', async () => {
    expect((await visitor.get(at('/none'), JSON_TYPE)).json()).toMatchObject({
      status: 404,
      code: 'not_found',
    })
  })

  test.each([
    `{"id":"deep","name":"A","extra":${'['.repeat(200_000)}${']'.repeat(200_000)}}`,
    `{"id":${'['.repeat(200_000)}${']'.repeat(200_000)}}`,
  ])('that nest lists by the thousand are an answer of the platform that cannot be used', async (text) => {
    app.answer('/api/leads/deep', { text })
    const problem = { status: 503, code: 'platform_unavailable' }
    expect((await visitor.get(at('/deep'), JSON_TYPE)).json()).toMatchObject(problem)
  })
})

describe('a new lead', () => {
  test('is created by form and by JSON', async () => {
    const posted = await visitor.post(at(), { form: { name: 'Nora New', email: '', suburb: 'Coogee' } })
    expect(posted.status).toBe(303)
    const page = await visitor.follow(posted)
    expect(page.text).toContain('<h1>Nora New</h1>')
    expect(page.text).toContain(shown(texts.created))
    const created = await visitor.post(at(), {
      text: JSON.stringify({ name: 'Jay Son' }),
      headers: { 'content-type': 'application/json' },
      ...JSON_TYPE,
    })
    expect(created.status).toBe(201)
    expect(created.json()).toMatchObject({ id: expect.any(String), name: 'Jay Son' })
  })

  test.each([
    [{ name: '' }, 'name'],
    [{ name: 'A', email: 'not an address' }, 'email'],
    [{ name: 'x'.repeat(201) }, 'name'],
    [{ name: 'A', email: `a@${'b.'.repeat(130)}example` }, 'email'],
    [{ name: 'A', colour: 'red' }, 'colour'],
  ])('that is not well-formed (%j) is rejected before it is sent, by field', async (form, field) => {
    const before = (await app.calls()).length
    const answer = await visitor.post(at(), { form, ...JSON_TYPE })
    expect(answer.json()).toMatchObject({ status: 400, code: 'invalid_input', field })
    expect(answer.json().detail).not.toMatch(ZODS_WORDS)
    expect((await app.calls()).length).toBe(before)
  })

  test('that is rejected comes back as it was typed, with the message beside its field', async () => {
    const form = { name: 'Nora <New>', email: 'not an address', notes: 'long typed' }
    const page = await visitor.post(at(), { form })
    expect(page.status).toBe(400)
    expect(page.text).toContain('value="Nora &lt;New&gt;"')
    expect(page.text).toContain('long typed</textarea>')
    expect(page.text).toMatch(
      /id="lead-email"[^>]*aria-invalid="true" aria-describedby="lead-email-error"[^>]* autofocus/,
    )
    const rule = shown(format.capital(texts.rules.email))
    expect(page.text).toContain(`id="lead-email-error" role="alert">${rule}`)
    // The list stays beside it.
    expect(page.text).toContain('Omar Walker')
  })

  test('comes back as it was typed if the platform does not confirm it, and works when it is sent again', async () => {
    await app.fault('leads', '500', 1)
    const form = { name: 'Nora', suburb: 'Coogee' }
    const page = await visitor.post(at(), { form })
    expect(page.status).toBe(503)
    expect(page.text).toContain('value="Coogee"')
    const [, alert] = page.text.split('role="alert"')
    expect(alert).toContain(shown(webTexts.coreErrors.outcome_unknown.detail))
    expect(page.text).not.toContain(shown(webTexts.form.nothingChanged))
    expect((await visitor.post(at(), { form })).status).toBe(303)
  })

  test.each(['500', 'drop'])(
    'that may have been created although the answer was lost (%s): a program reads so, without Retry-After',
    async (fault) => {
      await app.fault('leads', fault, 1)
      const answer = await visitor.post(at(), { ...JSON_TYPE, form: { name: 'Nora' } })
      expect(answer.json()).toMatchObject({ status: 503, code: 'outcome_unknown' })
      expect(answer.headers.get('retry-after')).toBeNull()
    },
  )

  test.each([409, 423, 429])(
    'that the platform refuses with %i was not created, and says so',
    async (status) => {
      app.answer('/api/leads', { status, text: '{}' })
      const page = await visitor.post(at(), { form: { name: 'Nora' } })
      expect(page.text).toContain(shown(webTexts.form.nothingChanged))
      for (const doubt of [webTexts.form.mayBeDone, webTexts.coreErrors.outcome_unknown.detail])
        expect(page.text).not.toContain(shown(doubt))
    },
  )

  test('is shown with its text escaped', async () => {
    const form = { name: '<img src=x onerror=alert(1)>', notes: '<script>alert(1)</script>' }
    const created = await visitor.follow(await visitor.post(at(), { form }))
    expect(created.status).toBe(200)
    expect(created.text).toContain('&lt;script&gt;alert(1)')
    expect(created.text).not.toMatch(/<img src=x|<script>alert/)
  })
})

test('a permission that was granted and that the API refuses is not on the card any more', async () => {
  const refused = await connected(app, { name: 'refused' })
  await app.fault('leads', 'forbidden', 1)
  await refused.get(`${app.url}/connections/harbour-homes/leads`)
  const { text } = await refused.get(`${app.url}/connections`)
  expect(text).toContain(shown(webTexts.summary.missing([leads])))
  expect(text).toContain(`<code class="chip">${catalogues}</code>`)
  expect(text).not.toContain(`<code class="chip">${leads}</code>`)
})
