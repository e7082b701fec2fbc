import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Running, startAll } from '../../support/app.ts'
import { connected, SCOPES, type signedIn } from '../../support/flow.ts'
import { latestRefresh } from './support.ts'

const JSON_ONLY = { accept: 'application/json' }

let app: Running
beforeAll(async () => {
  app = await startAll()
})
afterAll(() => app.close())

const panelOf = async (visitor: Awaited<ReturnType<typeof signedIn>>, bxcontext = 'harbour-homes') =>
  (await visitor.get(`${app.url}/connections/${bxcontext}/tokens`, JSON_ONLY)).json()

test('the panel has the times, the refreshes, the permissions and the events of a connection', async () => {
  const ann = await connected(app)
  const before = Date.now()
  await ann.post(`${app.url}/connections/harbour-homes/refresh`)
  await latestRefresh(app, ann)
  const panel = await panelOf(ann)
  expect(panel).toMatchObject({
    bxcontext: 'harbour-homes',
    refreshes: 1,
    refreshToken: 'same',
  })
  expect(Date.parse(panel.issuedAt)).toBeGreaterThanOrEqual(before)
  expect(Date.parse(panel.expiresAt) - Date.parse(panel.issuedAt)).toBe(300_000)
  expect(panel.requestedScopes).toEqual(SCOPES)
  expect(panel.scopes.toSorted()).toEqual(SCOPES)
  const events = panel.events.map(({ kind, outcome }: Record<string, string>) => `${kind} ${outcome}`)
  expect(events).toEqual(['refresh refreshed', 'connect connected'])
})

test('a connection that does not exist or is revoked has no panel', async () => {
  const cleo = await connected(app, { name: 'cleo' })
  expect((await panelOf(cleo, 'unknown')).code).toBe('not_connected')
  await app.sandbox('revoke')
  await cleo.post(`${app.url}/connections/harbour-homes/refresh`)
  expect((await panelOf(cleo)).code).toBe('connection_revoked')
})
