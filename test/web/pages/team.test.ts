import { Router } from 'express'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OwnSignIn, signIn } from '../../../src/web/sign-in/user.ts'
import { texts } from '../../../src/web/texts.ts'
import { type Running, startAll } from '../../support/app.ts'
import { connected, connectionsOf, signedIn } from '../../support/flow.ts'
import { ownSignIn } from '../../support/own-sign-in.ts'
import { shown } from '../../support/pages.ts'

/** All people of Acme have the same connections. */
const asTeam: OwnSignIn = async (options) => ({
  ...(await ownSignIn(options)),
  routes: Router().post('/sign-in', async (req, res) => {
    await signIn(req, { id: 'company:acme', name: req.body.name, team: 'Acme' })
    res.redirect(303, '/')
  }),
})

let app: Running
beforeAll(async () => {
  app = await startAll({}, {}, undefined, asTeam)
})
afterAll(() => app.close())

test('the people of a team read that they share connections, before they connect and afterwards', async () => {
  const ann = await signedIn(app, 'Ann')
  expect((await ann.get(`${app.url}/connect`)).text).toContain(
    shown(texts.connectPage.signedInAs('Ann', 'Acme')),
  )
  await connected(app, { name: 'Ann' })
  const bob = await signedIn(app, 'Bob')
  const list = (await bob.get(`${app.url}/connections`)).text
  expect(list).toContain(shown(texts.connections.shared('Acme')))
  expect(list).toContain(`<dt>${shown(texts.connection.connectedBy)}</dt><dd>Olivia Hart`)
})

test('the question before a disconnect tells who connected the business, and that colleagues lose it', async () => {
  await connected(app, { name: 'Ann' })
  const bob = await signedIn(app, 'Bob')
  const { text } = await bob.get(`${app.url}/connections/harbour-homes/disconnect`)
  expect(text).toContain(shown(texts.disconnect.team('Acme', 'Olivia Hart')))
  await bob.post(`${app.url}/connections/harbour-homes/disconnect`)
  expect(await connectionsOf(app, await signedIn(app, 'Ann'))).toEqual([])
})
