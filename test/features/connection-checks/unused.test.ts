import { afterEach, describe, expect, test } from 'vitest'
import { StoreUnavailableError } from '../../../src/connect/errors.ts'
import { NO_COUNTS } from '../../../src/features/connection-checks/round.ts'
import { refreshUnused } from '../../../src/features/connection-checks/unused.ts'
import { oauthError, tokens } from '../../support/token-endpoint.ts'
import {
  connectedSetup,
  consent,
  newKey,
  REF,
  refusingStore,
  type VaultSetup,
  vaultSetup,
} from '../../support/vault.ts'

let setup: VaultSetup
afterEach(() => setup?.close())

const HOUR = 3_600
const OTHER = { ...REF, bxcontext: 'other' }
async function check() {
  const counts = { ...NO_COUNTS }
  await refreshUnused(setup.vault, REF.userId, setup.now() - HOUR * 1000, counts)
  return counts
}

describe('the refresh of unused connections', () => {
  test('refreshes a token that was neither received nor used for so long', async () => {
    setup = await connectedSetup({}, { expiresIn: 24 * HOUR })
    setup.later(HOUR - 1)
    expect(await check()).toEqual({ ...NO_COUNTS, active: 1 })
    const source = setup.vault.tokenSource(REF)
    await source.accessToken()
    await source.noteCall({ result: 'ok', call: 'GET leads', scope: 'leads' })
    setup.later(HOUR - 60)
    expect(await check()).toEqual({ ...NO_COUNTS, active: 1 })
    setup.later(60)
    expect(await check()).toEqual({ ...NO_COUNTS, active: 1, refreshed: 1 })
    expect(await check()).toEqual({ ...NO_COUNTS, active: 1 })
    expect(setup.sent()).toEqual(['refresh-0'])
  })

  test('asks again in the next round whether access has ended, also if it was used shortly before, and then no more', async () => {
    setup = await connectedSetup()
    setup.endpoint.answers(oauthError('invalid_grant'))
    await setup.vault.refresh(REF).catch(() => {})
    for (const [seconds, requests] of [
      [0, 1],
      [60, 2],
      [60, 2],
    ] as const) {
      setup.later(seconds)
      expect(await check()).toEqual({ ...NO_COUNTS, revoked: 1 })
      expect(setup.sent()).toHaveLength(requests)
    }
    expect(await setup.vault.find(REF)).toMatchObject({ tokens: null })
  })

  test('tries one whose access is refused again, and counts it as revoked until that succeeds', async () => {
    setup = await connectedSetup()
    setup.endpoint.answers(oauthError('invalid_request'))
    setup.later(HOUR)
    expect(await check()).toEqual({ ...NO_COUNTS, degraded: 1, failed: 1 })
    for (let time = 0; time < 2; time++) {
      setup.later(60)
      expect(await check()).toEqual({ ...NO_COUNTS, revoked: 1 })
    }
    setup.later(60)
    setup.endpoint.answers(tokens())
    expect(await check()).toEqual({ ...NO_COUNTS, active: 1, refreshed: 1 })
  })

  test('notices the end of a connection without a refresh token, and leaves it alone until then', async () => {
    setup = await vaultSetup()
    await consent(setup.vault, { refreshToken: undefined, expiresIn: 2 * HOUR })
    setup.later(2 * HOUR - 1)
    expect(await check()).toEqual({ ...NO_COUNTS, active: 1 })
    setup.later(1)
    expect(await check()).toEqual({ ...NO_COUNTS, revoked: 1 })
  })

  test('reports an error of the platform and what cannot be decrypted, and refreshes the others', async () => {
    setup = await connectedSetup()
    await consent(setup.vault, {}, OTHER)
    await consent(setup.anotherVault({ keys: [newKey('lost')] }), {}, { ...REF, bxcontext: 'lost' })
    setup.later(HOUR)
    setup.endpoint.answers({ status: 500, text: '' }, tokens())
    expect(await check()).toEqual({
      ...NO_COUNTS,
      active: 1,
      degraded: 1,
      unreadable: 1,
      refreshed: 1,
      failed: 1,
    })
  })

  test('fails if the store does', async () => {
    const { store, refuses } = refusingStore()
    setup = await connectedSetup({ store })
    setup.later(HOUR)
    refuses.writes = true
    await expect(check()).rejects.toThrow(StoreUnavailableError)
  })
})
