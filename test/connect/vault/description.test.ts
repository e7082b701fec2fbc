/** What people read about a connection. */
import { afterEach, describe, expect, test } from 'vitest'
import { createFaultyStore } from '../../support/faulty-store.ts'
import { oauthError, tokens } from '../../support/token-endpoint.ts'
import { connectedSetup, consent, newKey, REF, type VaultSetup, vaultSetup } from '../../support/vault.ts'

let setup: VaultSetup
afterEach(() => setup?.close())

const found = (vault = setup.vault) => vault.find(REF)
const NAMES = { businessName: 'Harbour Homes', userName: 'Olivia Hart' }
const OK = { result: 'ok', call: 'GET leads', scope: 'leads' } as const
const FORBIDDEN = { result: 'forbidden', call: 'GET leads', scope: 'leads' } as const
const OUTAGE = { result: 'unavailable', kind: 'no_answer' } as const

/** A token source that has sent a token, and learns how the call ended. */
async function calling(vault = setup.vault) {
  const source = vault.tokenSource(REF)
  await source.accessToken()
  return source
}

test('no connection is null, and not in the list', async () => {
  setup = await vaultSetup()
  expect(await found()).toBeNull()
  expect(await setup.vault.list(REF.userId)).toEqual([])
})

describe('the names of a connection', () => {
  test('are those of the latest answer that has them', async () => {
    setup = await vaultSetup()
    await consent(setup.vault, NAMES)
    expect(await found()).toMatchObject(NAMES)
    setup.later(5)
    setup.endpoint.answers(tokens({ business_name: 'Harbour Group' }))
    await setup.vault.refresh(REF)
    expect(await found()).toMatchObject({ ...NAMES, businessName: 'Harbour Group' })
  })

  test('stay when access ends', async () => {
    setup = await vaultSetup()
    await consent(setup.vault, NAMES)
    setup.later(5)
    setup.endpoint.answers(oauthError('invalid_grant'))
    await setup.vault.refresh(REF).catch(() => {})
    expect(await found()).toMatchObject({ view: { state: 'revoked' }, ...NAMES })
  })

  test('are null if the platform does not tell them', async () => {
    setup = await connectedSetup()
    expect(await found()).toMatchObject({ businessName: null, userName: null })
  })
})

test('the refreshes of a consent are counted, with what the last one did to the refresh token', async () => {
  setup = await connectedSetup()
  expect(await found()).toMatchObject({ consent: 1, tokens: { refreshes: 0, refreshToken: 'same' } })
  for (const [index, refreshToken] of ['rotated', 'same'].entries()) {
    setup.later(5)
    setup.endpoint.answers(tokens({ refresh_token: 'refresh-1' }))
    await setup.vault.refresh(REF)
    expect(await found()).toMatchObject({ tokens: { refreshes: index + 1, refreshToken } })
  }
  await consent(setup.vault)
  expect(await found()).toMatchObject({ consent: 2, tokens: { refreshes: 0, refreshToken: 'same' } })
})

describe('the last use', () => {
  test('is the minute of the last call that succeeded, in any process', async () => {
    setup = await connectedSetup()
    const source = await calling()
    await source.noteCall(OUTAGE)
    expect(await found()).toMatchObject({ lastUsedAt: null })
    await source.noteCall(OK)
    const first = (await found())?.lastUsedAt ?? 0
    expect(first % 60_000).toBe(0)
    setup.later(60)
    await (await calling(setup.anotherVault())).noteCall(OK)
    expect(await found()).toMatchObject({ lastUsedAt: first + 60_000 })
  })

  test('costs at most one write in a minute', async () => {
    const { store, failBy } = createFaultyStore()
    setup = await connectedSetup({ store, now: () => 1_800_000_000_000 })
    let writes = 0
    failBy((operation) => {
      if (operation === 'compareAndSet') writes++
      return undefined
    })
    const source = await calling()
    for (let call = 0; call < 20; call++) await source.noteCall(OK)
    expect(writes).toBe(1)
  })
})

describe('a missing permission', () => {
  test('is one that was requested and not granted', async () => {
    setup = await connectedSetup({}, { scopes: ['leads'] })
    const missingScopes = ['catalogues']
    expect(await found()).toMatchObject({ view: { state: 'needs_consent', missingScopes }, missingScopes })
  })

  test('is one that the API required, until a call with it succeeds', async () => {
    setup = await connectedSetup()
    const source = await calling()
    await source.noteCall(FORBIDDEN)
    await source.noteCall({ result: 'ok', call: 'GET catalogues', scope: 'catalogues' })
    expect(await found()).toMatchObject({ view: { state: 'needs_consent', missingScopes: ['leads'] } })
    await source.noteCall(OK)
    expect(await found()).toMatchObject({ view: { state: 'active' } })
  })
})

describe('trouble', () => {
  test('with the API is shown in every process until the next call of any process succeeds', async () => {
    setup = await connectedSetup()
    const other = setup.anotherVault()
    await (await calling()).noteCall(OUTAGE)
    expect(await found(other)).toMatchObject({ view: { state: 'degraded', trouble: 'no_answer' } })
    await (await calling(other)).noteCall(OK)
    expect(await found()).toMatchObject({ view: { state: 'active' } })
  })

  test('with this app’s credentials is shown until a refresh succeeds, whatever calls answer', async () => {
    setup = await connectedSetup()
    setup.later(250)
    setup.endpoint.answers(oauthError('invalid_client', 401), tokens())
    const source = await calling()
    await setup.vault.idle()
    for (const outcome of [OK, OUTAGE, FORBIDDEN, OK]) {
      await source.noteCall(outcome)
      expect(await found()).toMatchObject({ view: { state: 'misconfigured' } })
    }
    setup.later(60)
    await setup.token()
    expect(await found()).toMatchObject({ view: { state: 'active' } })
  })

  test('that an earlier consent’s call had is not shown', async () => {
    setup = await connectedSetup()
    const earlier = await calling()
    await consent(setup.vault)
    await earlier.noteCall(OUTAGE)
    expect(await found()).toMatchObject({ view: { state: 'active' } })
  })
})

describe('the list of a user', () => {
  test('has the latest connection first, and those of no other user', async () => {
    setup = await connectedSetup()
    setup.later(1)
    await consent(setup.vault, {}, { ...REF, bxcontext: 'later' })
    await consent(setup.vault, {}, { ...REF, userId: 'ben' })
    expect(await setup.vault.list(REF.userId)).toMatchObject([{ bxcontext: 'later' }, { bxcontext: 'ctx' }])
  })

  test('has what cannot be decrypted as well, with the key that is missing', async () => {
    setup = await connectedSetup()
    const other = { ...REF, bxcontext: 'other' }
    const elsewhere = setup.anotherVault({ keys: [newKey('elsewhere')] })
    await consent(elsewhere, {}, other)
    expect(await setup.vault.list(REF.userId)).toMatchObject([
      { bxcontext: 'ctx', view: { state: 'active' } },
      { bxcontext: 'other', view: { state: 'unreadable' }, missingKeyId: 'elsewhere' },
    ])
    await expect(setup.vault.find(other)).rejects.toMatchObject({
      code: 'record_decryption_failed',
      status: 500,
    })
  })
})
