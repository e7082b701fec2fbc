import { afterEach, describe, expect, test } from 'vitest'
import { oauthError } from '../../support/token-endpoint.ts'
import { GRANTED, REF, type VaultSetup, vaultSetup } from '../../support/vault.ts'

let setup: VaultSetup
afterEach(() => setup?.close())

describe('a clock that is ten minutes ahead on another machine', () => {
  const ahead = () => setup.anotherVault({ now: () => Date.now() + 600_000 })

  test('does not prevent a new consent from replacing the connection', async () => {
    setup = await vaultSetup({ now: Date.now })
    await ahead().connect(REF, { ...GRANTED, accessToken: 'from-the-future' })
    await setup.vault.connect(REF, { ...GRANTED, accessToken: 'newest' })
    expect(await setup.token()).toBe('newest')
  })

  test('does not prevent reconnecting a revoked connection', async () => {
    setup = await vaultSetup({ now: Date.now })
    const other = ahead()
    await other.connect(REF, { ...GRANTED, expiresIn: 0 })
    setup.endpoint.answers(oauthError('invalid_grant'))
    await other.accessToken(REF).catch(() => {})
    await setup.vault.connect(REF, GRANTED)
    expect(await setup.token()).toBe('access-0')
  })
})
