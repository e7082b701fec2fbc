import { describe, expect, test } from 'vitest'
import { format } from '../../../src/web/pages/format.ts'
import { texts } from '../../../src/web/texts.ts'
import { sharedApp } from '../../support/app.ts'
import { connected, connectionsOf, newUser, signedIn } from '../../support/flow.ts'
import { shown } from '../../support/pages.ts'
import { consent } from '../../support/vault.ts'
import type { Visitor } from '../../support/visitor.ts'

const app = await sharedApp()
const ID = '0197c1e2-8d4b-7a6f-b1c2-9e7d5a4f2a9c'
const UNNAMED = texts.connection.unnamed('…4f2a9c')
const JSON_TYPE = { accept: 'application/json' }
const urlOf = (path: string, bxcontext = ID) => `${app.url}/connections/${bxcontext}${path}`

/** A user with a connection whose names the platform does not report. */
async function nameless(name = newUser()): Promise<Visitor> {
  await consent(app.services.connect.vault, {}, { userId: name, bxcontext: ID })
  return signedIn(app, name)
}

const give = (visitor: Visitor, label: string, options = {}) =>
  visitor.post(urlOf('/label'), { form: { connection: ID, label }, ...options })
const headingsOf = async (visitor: Visitor) =>
  [...(await visitor.get(`${app.url}/connections`)).text.matchAll(/<h2[^>]*>([^<]*)/g)].map(
    ([, text]) => text,
  )

describe('the name of a connection', () => {
  test('is the label, else the name of the platform, else the end of its id, with its JSON', async () => {
    const visitor = await nameless()
    expect(await headingsOf(visitor)).toEqual([shown(UNNAMED)])
    const nobody = { bxcontext: ID, name: UNNAMED, label: null, businessName: null }
    expect(await connectionsOf(app, visitor)).toMatchObject([nobody])
    await give(visitor, ' Main shop ')
    expect(await headingsOf(visitor)).toEqual(['Main shop'])
    expect(await connectionsOf(app, visitor)).toMatchObject([
      { ...nobody, name: 'Main shop', label: 'Main shop' },
    ])
    const named = await connected(app, { name: newUser() })
    expect(await headingsOf(named)).toEqual(['Harbour Homes'])
  })

  test('is the same wherever it is shown', async () => {
    const visitor = await nameless()
    await give(visitor, 'Main shop')
    const asked = await visitor.get(urlOf('/disconnect'))
    expect(asked.text).toContain(`<h1>${shown(texts.disconnect.title('Main shop'))}</h1>`)
    expect(asked.text).not.toContain(UNNAMED)
    const done = await visitor.follow(await visitor.post(urlOf('/disconnect')))
    expect(done.text).toContain(shown(texts.notices.disconnected.remains('Main shop')))
  })

  test('of a business that is connected again is the label', async () => {
    const user = newUser()
    const visitor = await connected(app, { name: user })
    await visitor.post(urlOf('/label', 'harbour-homes'), { form: { label: 'Main shop' } })
    const page = await visitor.post(`${app.url}/connect`, { form: { bxcontext: 'harbour-homes' } })
    expect(page.text).toContain(shown(texts.toPlatform.leadAgain('Main shop')))
  })
})

describe('the form for a name', () => {
  test('has what its page shows, and an empty field takes the name away', async () => {
    const visitor = await nameless()
    await visitor.follow(await give(visitor, 'Main shop'))
    const { text } = await visitor.get(`${app.url}/connections`)
    expect(text).toContain('data-live="/connections/live?id=')
    expect(text).toMatch(/name="label"[^>]* maxlength="60"[^>]* value="Main shop"/)
    const answer = await visitor.follow(await give(visitor, ' '))
    expect(answer.text).toContain(shown(texts.notices.labelled(UNNAMED)))
    expect(await headingsOf(visitor)).toEqual([shown(UNNAMED)])
  })

  test.each([
    ['61 characters', 'x'.repeat(61), texts.rules.tooLong(60)],
    ['a line break', 'Main\nshop', texts.rules.controlCharacters],
    ['an override of the direction', 'Main\u202eshop', texts.rules.controlCharacters],
  ])('refuses %s, with what was typed', async (_what, label, rule) => {
    const visitor = await nameless()
    const { status, text } = await give(visitor, label)
    expect(status).toBe(400)
    expect(text).toMatch(/<details class="more"[^>]* open>/)
    expect(text).toContain(shown(format.capital(rule)))
    // The page has no live updates, because an update would remove the message.
    expect(text).not.toContain('data-live=')
    expect(text).toMatch(/name="label"[^>]* autofocus>/)
    expect((await give(visitor, label, JSON_TYPE)).json()).toMatchObject({
      code: 'invalid_input',
      field: 'label',
    })
    expect(await headingsOf(visitor)).toEqual([shown(UNNAMED)])
  })

  test('takes 60 characters of any language, and no name that nobody can see', async () => {
    const visitor = await nameless()
    const label = 'שלום'.repeat(15)
    await give(visitor, label)
    expect(await headingsOf(visitor)).toEqual([label])
    await give(visitor, '\u200b\u2060')
    expect(await headingsOf(visitor)).toEqual([shown(UNNAMED)])
  })
})
