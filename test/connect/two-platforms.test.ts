import { expect, test } from 'vitest'
import { createConnect, platform } from '../../src/connect/index.ts'
import { openSqlite } from '../../src/connect/stores.ts'
import { consent, newKey, REF } from '../support/vault.ts'

const store = openSqlite({ file: ':memory:' })
const keys = [newKey()]

/** The core for a platform of this name. It sends nothing. */
const connectTo = (name: string) =>
  createConnect({
    store,
    keys,
    platform: { ...platform, name },
    client: {
      appUrl: 'http://localhost',
      authUrl: 'http://localhost',
      apiUrl: 'http://localhost',
      clientId: 'client',
      clientSecret: 'secret',
      scopes: [],
      authorizePath: '/authorize',
      authorizeParams: {},
      pkce: true,
    },
  })

test('two platforms on one store keep the same user and bxcontext apart, and share no connect flow', async () => {
  const [first, second] = [connectTo('alpha'), connectTo('beta')]
  await consent(first.vault, { accessToken: 'of-alpha' })
  expect(await second.vault.find(REF)).toBeNull()
  await consent(second.vault, { accessToken: 'of-beta' })
  expect(await first.vault.accessToken(REF)).toBe('of-alpha')
  await first.vault.disconnect(REF)
  expect(await second.vault.accessToken(REF)).toBe('of-beta')
  const browser = { userId: REF.userId, session: 'session' }
  await first.flows.start(browser)
  const planted = { code: 'missing_authorization_request' }
  await expect(second.flows.arrive(browser, 'ctx')).rejects.toMatchObject(planted)
})

test('a name that could be part of another key is refused', () => {
  expect(() => connectTo('platform-connection')).toThrow('lower-case letters')
})
