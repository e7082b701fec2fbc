import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Tokens } from '../../../src/connect/index.ts'
import { oauthError, startTokenEndpoint, type TokenEndpoint } from '../../support/token-endpoint.ts'
import {
  GRANTED,
  newKey,
  REF,
  refusingStore,
  vaultWithRevocation as setUp,
  vaultSetup,
} from '../../support/vault.ts'

let endpoint: TokenEndpoint
beforeEach(async () => {
  endpoint = await startTokenEndpoint()
  endpoint.answers({ status: 200, text: '' })
})
afterEach(() => endpoint.close())

describe('disconnecting', () => {
  test('revokes the refresh token on the platform, once, and deletes the connection', async () => {
    const { vault, close } = await setUp(endpoint)
    const both = await Promise.all([vault.disconnect(REF), vault.disconnect(REF)])
    expect(both.toSorted()).toEqual([null, 'withdrawn'])
    expect(endpoint.requests).toEqual([
      {
        token: 'refresh-0',
        token_type_hint: 'refresh_token',
        client_id: 'client',
        client_secret: 'client secret',
      },
    ])
    expect(await vault.find(REF)).toBeNull()
    expect(await vault.disconnect(REF)).toBeNull()
    await close()
  })

  test('revokes the access token if there is no refresh token', async () => {
    const setup = await setUp(endpoint)
    await setup.vault.connect(REF, { ...GRANTED, refreshToken: undefined })
    expect(await setup.vault.disconnect(REF)).toBe('withdrawn')
    expect(endpoint.requests).toMatchObject([{ token: 'access-0', token_type_hint: 'access_token' }])
    await setup.close()
  })

  test.each([
    ['is down', { status: 503, text: 'down' }],
    ['redirects', { status: 302, text: '', headers: { location: '/' } }],
    ['rejects this app', oauthError('invalid_client', 401)],
    ['does not support the token', oauthError('unsupported_token_type')],
  ])(
    'deletes the connection all the same if the revocation endpoint %s, and says so',
    async (_name, answer) => {
      endpoint.answers(answer)
      const { vault, logLines, close } = await setUp(endpoint)
      expect(await vault.disconnect(REF)).toBe('unknown')
      expect(await vault.find(REF)).toBeNull()
      expect(logLines.join('')).toContain('was not revoked')
      expect(logLines.join('')).not.toMatch(/refresh-0|access-0|client secret/)
      await close()
    },
  )

  test('also deletes tokens that are stored while it runs, after the store had refused them', async () => {
    const { store, refuses } = refusingStore()
    const setup = await vaultSetup({ store })
    refuses.connections = true
    expect(await setup.vault.connect(REF, GRANTED)).toBe('unsaved')
    // The held tokens are stored between the two steps of disconnecting.
    const remove = store.delete
    let stored = false
    store.delete = async (key) => {
      const removed = await remove(key).catch(() => false)
      if (key.kind === 'platform-connection' && !stored) {
        stored = true
        refuses.connections = false
        await vi.waitFor(async () => expect(await store.get(key)).not.toBeNull(), { timeout: 5_000 })
      }
      return removed
    }
    await setup.vault.disconnect(REF)
    await setup.vault.idle()
    expect(await setup.vault.find(REF)).toBeNull()
    expect(await store.get({ kind: 'platform-connection', owner: 'ann', id: 'ctx' })).toBeNull()
    await setup.close()
  })

  test('while a refresh is under way also revokes the tokens that the refresh gets', async () => {
    const setup = await setUp(endpoint)
    const { oauth } = setup
    let answerRefresh = (_tokens: Tokens) => {}
    const sent = new Promise<void>((resolve) => {
      vi.spyOn(oauth, 'refresh').mockImplementation(() => {
        resolve()
        return new Promise((answer) => {
          answerRefresh = answer
        })
      })
    })
    const refreshed = setup.vault.refresh(REF).catch((error: unknown) => error)
    await sent
    expect(await setup.anotherVault().disconnect(REF)).toBe('withdrawn')
    answerRefresh({ ...GRANTED, accessToken: 'access-1', refreshToken: 'refresh-1' })
    expect(await refreshed).toMatchObject({ code: 'not_connected' })
    expect(endpoint.requests.map(({ token }) => token)).toEqual(['refresh-0', 'refresh-1'])
    expect(await setup.vault.find(REF)).toBeNull()
    await setup.close()
  })

  test('of a connection that cannot be decrypted deletes it, and says that the consent may remain', async () => {
    const setup = await setUp(endpoint)
    const other = { ...REF, bxcontext: 'other' }
    await setup.anotherVault({ keys: [newKey('other')] }).connect(other, GRANTED)
    expect(await setup.vault.disconnect(other)).toBe('unknown')
    expect(await setup.vault.find(other)).toBeNull()
    expect(endpoint.requests).toEqual([])
    await setup.close()
  })

  test('of a grant that the platform has ended says that the consent has ended', async () => {
    const { vault, close, later } = await setUp(endpoint)
    later(301)
    endpoint.answers(oauthError('invalid_grant'))
    await vault.accessToken(REF).catch(() => {})
    expect(await vault.disconnect(REF)).toBe('withdrawn')
    await close()
  })

  test('of an access token that has expired does not say that the consent has ended', async () => {
    const { vault, close, later } = await setUp(endpoint)
    await vault.connect(REF, { ...GRANTED, refreshToken: undefined })
    later(301)
    await expect(vault.accessToken(REF)).rejects.toMatchObject({ code: 'connection_revoked' })
    expect(await vault.disconnect(REF)).toBe('unknown')
    expect(endpoint.requests).toEqual([])
    await close()
  })

  test('without a revocation endpoint leaves the consent, and says so', async () => {
    const setup = await vaultSetup()
    await setup.vault.connect(REF, GRANTED)
    expect(await setup.vault.disconnect(REF)).toBe('remains')
    await setup.close()
  })
})
