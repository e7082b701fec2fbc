import { afterEach, describe, expect, test } from 'vitest'
import { oauthError, tokens } from '../../support/token-endpoint.ts'
import { connectedSetup, GRANTED, REF, type VaultSetup, vaultSetup } from '../../support/vault.ts'

let setup: VaultSetup
afterEach(() => setup?.close())

const found = () => setup.vault.find(REF)
const NAMES = { businessName: 'Harbour Homes', userName: 'Olivia Hart' }

describe('the names of a connection', () => {
  test('are those of the token response, and a refresh that has none keeps them', async () => {
    setup = await vaultSetup()
    await setup.vault.connect(REF, { ...GRANTED, ...NAMES })
    expect(await found()).toMatchObject(NAMES)
    await setup.vault.refresh(REF)
    expect(await found()).toMatchObject({ refreshes: 1, ...NAMES })
    setup.later(60)
    setup.endpoint.answers(tokens({ business_name: 'Harbour Group' }))
    await setup.vault.refresh(REF)
    expect(await found()).toMatchObject({ ...NAMES, businessName: 'Harbour Group' })
  })

  test('stay when access is revoked', async () => {
    setup = await vaultSetup()
    await setup.vault.connect(REF, { ...GRANTED, ...NAMES })
    setup.endpoint.answers(oauthError('invalid_grant'))
    await expect(setup.vault.refresh(REF)).rejects.toMatchObject({ code: 'connection_revoked' })
    expect(await found()).toMatchObject({ status: 'revoked', ...NAMES })
  })

  test('are null if the platform does not tell them', async () => {
    setup = await connectedSetup()
    expect(await found()).toMatchObject({ businessName: null, userName: null })
  })
})

describe('the time of last use', () => {
  const use = (vault = setup.vault) =>
    vault.tokenSource(REF).noteCall({ result: 'ok', call: 'GET leads', scope: 'leads' })
  const lastUsedAt = async () => (await found())?.lastUsedAt ?? null
  const KEY = { kind: 'platform-last-use', owner: REF.userId, id: REF.bxcontext }

  test('is that of the last call that succeeded', async () => {
    setup = await connectedSetup()
    await setup.vault.tokenSource(REF).noteCall({ result: 'unavailable', kind: 'error' })
    expect(await lastUsedAt()).toBeNull()
    await use()
    const first = await lastUsedAt()
    expect(first).toEqual(expect.any(Number))
    setup.later(61)
    await use(setup.anotherVault())
    expect(await lastUsedAt()).toBe((first ?? 0) + 61_000)
  })

  test('is written at most once a minute', async () => {
    setup = await connectedSetup()
    await use()
    await setup.store.delete(KEY)
    setup.later(59)
    await use()
    expect(await setup.store.get(KEY)).toBeNull()
    setup.later(1)
    await use()
    expect(await setup.store.get(KEY)).not.toBeNull()
  })

  test.each([
    ['fails', () => Promise.reject(new Error('down'))],
    ['is never answered', () => new Promise<void>(() => {})],
  ])('does not affect a call if its write %s', async (_case, set) => {
    setup = await connectedSetup()
    await use(setup.anotherVault({ store: { ...setup.store, set } }))
    expect(await lastUsedAt()).toBeNull()
  })

  test.each(['yesterday', '12 or so'])('that cannot be read (%s) counts as unknown', async (value) => {
    setup = await connectedSetup()
    await setup.store.set(KEY, value, 60_000)
    expect(await lastUsedAt()).toBeNull()
  })

  test('survives a new consent, and is deleted on disconnect', async () => {
    setup = await connectedSetup()
    await use()
    await setup.vault.connect(REF, GRANTED)
    expect(await lastUsedAt()).not.toBeNull()
    await setup.vault.disconnect(REF)
    expect(await setup.store.get(KEY)).toBeNull()
  })
})

describe('the refreshes of a grant', () => {
  test('are counted, with what the last one did to the refresh token, until the next consent', async () => {
    setup = await connectedSetup()
    expect(await found()).toMatchObject({ refreshes: 0, refreshToken: 'same' })
    for (const [refreshToken, answered] of [
      ['rotated', { refresh_token: 'refresh-1' }],
      ['same', { refresh_token: 'refresh-1' }],
      ['same', {}],
    ] as const) {
      setup.later(60)
      setup.endpoint.answers(tokens(answered))
      await setup.vault.refresh(REF)
      expect(await found()).toMatchObject({ refreshToken })
    }
    expect(await found()).toMatchObject({ refreshes: 3 })
    await setup.vault.connect(REF, GRANTED)
    expect(await found()).toMatchObject({ refreshes: 0, refreshToken: 'same' })
  })

  test('need a refresh token', async () => {
    setup = await vaultSetup()
    await setup.vault.connect(REF, { ...GRANTED, refreshToken: undefined })
    expect(await found()).toMatchObject({ refreshes: 0, refreshToken: 'none' })
  })
})

describe('the claims that the vault shows', () => {
  test('are those of the access token, without a refresh', async () => {
    setup = await vaultSetup()
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const accessToken = `${part({ alg: 'ES256' })}.${part({ iss: 'https://auth.example' })}.x`
    await setup.vault.connect(REF, { ...GRANTED, accessToken })
    setup.later(301)
    expect(await setup.vault.tokenClaims(REF)).toMatchObject({
      claims: [{ name: 'iss', value: 'https://auth.example' }],
    })
    expect(setup.sent()).toEqual([])
  })

  test('are null for an opaque token, and of no connection there are none', async () => {
    setup = await connectedSetup()
    expect(await setup.vault.tokenClaims(REF)).toBeNull()
    await expect(setup.vault.tokenClaims({ ...REF, bxcontext: 'none' })).rejects.toMatchObject({
      code: 'not_connected',
    })
  })
})
