import { afterEach, describe, expect, test } from 'vitest'
import { StoreUnavailableError } from '../../../src/connect/store/store.ts'
import { oauthError, tokens } from '../../support/token-endpoint.ts'
import {
  connectedSetup,
  GRANTED,
  newKey,
  REF,
  refusingStore,
  type VaultSetup,
  vaultSetup,
} from '../../support/vault.ts'

let setup: VaultSetup
afterEach(() => setup?.close())

const HOUR = 3_600
const check = () => setup.vault.refreshUnused('ann', HOUR * 1000)
const use = () => setup.vault.tokenSource(REF).noteCall({ result: 'ok', call: 'GET leads', scope: 'leads' })
const NOTHING = { active: 0, revoked: 0, unreadable: 0, refreshed: 0, failures: [] }

describe('the refresh of unused connections', () => {
  test('refreshes a token that was received as long ago as that, and no earlier', async () => {
    setup = await connectedSetup()
    setup.later(HOUR - 1)
    expect(await check()).toEqual({ ...NOTHING, active: 1 })
    setup.later(1)
    expect(await check()).toEqual({ ...NOTHING, active: 1, refreshed: 1 })
    expect(await check()).toEqual({ ...NOTHING, active: 1 })
    expect(setup.sent()).toEqual(['refresh-0'])
  })

  test('leaves a token that an API call used since', async () => {
    setup = await connectedSetup({}, { expiresIn: 24 * HOUR })
    setup.later(HOUR)
    await use()
    setup.later(HOUR - 1)
    expect(await check()).toMatchObject({ active: 1, refreshed: 0 })
    setup.later(1)
    expect(await check()).toMatchObject({ active: 1, refreshed: 1 })
  })

  test('counts a connection that turns out to be revoked as revoked, now and later', async () => {
    setup = await connectedSetup()
    setup.later(HOUR)
    setup.endpoint.answers(oauthError('invalid_grant'))
    expect(await check()).toEqual({ ...NOTHING, revoked: 1 })
    expect(await check()).toEqual({ ...NOTHING, revoked: 1 })
    expect(setup.sent()).toEqual(['refresh-0'])
  })

  test('reports an error of the platform, and refreshes the other connections', async () => {
    setup = await connectedSetup()
    await setup.vault.connect({ ...REF, bxcontext: 'other' }, GRANTED)
    setup.later(HOUR)
    setup.endpoint.answers({ status: 500, text: '' }, tokens())
    expect(await check()).toEqual({
      ...NOTHING,
      active: 2,
      refreshed: 1,
      failures: [expect.objectContaining({ code: 'platform_unavailable' })],
    })
  })

  test('notices the end of a connection without a refresh token, and leaves it alone until then', async () => {
    setup = await vaultSetup()
    await setup.vault.connect(REF, { ...GRANTED, refreshToken: undefined, expiresIn: 2 * HOUR })
    setup.later(2 * HOUR - 1)
    expect(await check()).toEqual({ ...NOTHING, active: 1 })
    setup.later(1)
    expect(await check()).toEqual({ ...NOTHING, revoked: 1 })
    expect(setup.sent()).toEqual([])
  })

  test('counts a connection that cannot be decrypted, and goes on', async () => {
    setup = await connectedSetup()
    await setup.anotherVault({ keys: [newKey('other')] }).connect({ ...REF, bxcontext: 'other' }, GRANTED)
    expect(await check()).toEqual({ ...NOTHING, active: 1, unreadable: 1 })
  })

  test('does not count a connection that is disconnected meanwhile', async () => {
    setup = await connectedSetup()
    setup.later(HOUR)
    const { get } = setup.store
    setup.store.get = async (key) => {
      if (key.kind === 'platform-last-use') await setup.anotherVault().disconnect(REF)
      return get(key)
    }
    expect(await check()).toEqual(NOTHING)
  })

  test('leaves tokens that are not stored yet', async () => {
    const { store, refuses } = refusingStore()
    setup = await connectedSetup({ store })
    setup.later(HOUR)
    refuses.connections = true
    expect(await setup.vault.connect(REF, GRANTED, Date.now() + 1)).toBe('unsaved')
    expect(await check()).toEqual({ ...NOTHING, active: 1 })
    expect(setup.sent()).toEqual([])
    refuses.connections = false
    await setup.vault.idle()
  })

  test('fails if the store does', async () => {
    setup = await connectedSetup()
    setup.later(HOUR)
    setup.store.get = () => Promise.reject(new StoreUnavailableError('gone'))
    await expect(check()).rejects.toMatchObject({ code: 'store_unavailable' })
  })
})

test('the users of a bxcontext are those who are connected to it now', async () => {
  setup = await connectedSetup()
  await setup.vault.connect({ ...REF, userId: 'ben' }, GRANTED)
  await setup.vault.connect({ userId: 'cleo', bxcontext: 'other' }, GRANTED)
  expect((await setup.vault.usersOf('ctx')).sort()).toEqual(['ann', 'ben'])
  await setup.vault.disconnect(REF)
  expect(await setup.vault.usersOf('ctx')).toEqual(['ben'])
})

test('a user of whom the index does not know is in it after a refresh', async () => {
  setup = await connectedSetup()
  const [entry] = await setup.store.list('platform-users', '\u0001ctx')
  if (entry) await setup.store.delete(entry.key)
  expect(await setup.vault.usersOf('ctx')).toEqual([])
  await setup.vault.refresh(REF)
  expect(await setup.vault.usersOf('ctx')).toEqual(['ann'])
})
