import { describe, expect, test } from 'vitest'
import { sharedApp } from '../../support/app.ts'
import { connected, connectionsOf, newUser, SCOPES, signedIn, toCallback } from '../../support/flow.ts'

const app = await sharedApp()

describe('connecting an account', () => {
  test('ends on the connections page, with an active connection and the granted scopes', async () => {
    const visitor = await signedIn(app, newUser())
    const callback = await visitor.get(await toCallback(app, visitor))
    expect(callback.status).toBe(303)
    expect(callback.headers.get('location')).toBe('/connections')
    expect(await connectionsOf(app, visitor)).toMatchObject([
      { bxcontext: 'harbour-homes', status: 'active', scopes: SCOPES },
    ])
  })

  test('a second bxcontext is a second connection with its own tokens', async () => {
    const userId = newUser()
    const visitor = await connected(app, { name: userId })
    await visitor.get(await toCallback(app, visitor, { bxcontext: 'harbour-renovations' }))
    const connections: { bxcontext: string }[] = await connectionsOf(app, visitor)
    const names = connections.map(({ bxcontext }) => bxcontext)
    expect(names.sort()).toEqual(['harbour-homes', 'harbour-renovations'])
    const tokens = await Promise.all(
      names.map((bxcontext) => app.services.connect.vault.accessToken({ userId, bxcontext })),
    )
    expect(new Set(tokens).size).toBe(2)
  })

  test('lets the app call the API with the granted token', async () => {
    const visitor = await connected(app, { name: newUser() })
    const get = (path: string) =>
      visitor.get(`${app.url}/connections/harbour-homes/${path}`, { accept: 'application/json' })
    expect((await get('probe?top=2&skip=1')).json()).toEqual({
      items: [{ id: 'P2' }, { id: 'P3' }],
      total: 40,
    })
    expect((await get('probe/P2')).json()).toEqual({ id: 'P2' })
  })
})
