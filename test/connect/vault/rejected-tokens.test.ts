import { afterEach, describe, expect, test } from 'vitest'
import { tokens } from '../../support/token-endpoint.ts'
import { connectedSetup, GRANTED, REF, type VaultSetup, vaultSetup } from '../../support/vault.ts'

let setup: VaultSetup
afterEach(() => setup?.close())

describe('a grant without a refresh token', () => {
  const refreshRejected = () => setup.vault.tokenSource(REF).refresh('access-0')
  const grant = async (expiresIn: number | undefined) => {
    setup = await vaultSetup()
    await setup.vault.connect(REF, { ...GRANTED, refreshToken: undefined, expiresIn })
  }

  test('survives a 401 from the API', async () => {
    await grant(3600)
    await expect(refreshRejected()).rejects.toMatchObject({ code: 'platform_rejected' })
    expect(await setup.token()).toBe('access-0')
  })

  test('survives any number of 401s within a minute, and two more a minute apart', async () => {
    await grant(3600)
    for (let call = 0; call < 20; call++) await refreshRejected().catch(() => {})
    setup.later(61)
    await expect(refreshRejected()).rejects.toMatchObject({ code: 'platform_rejected' })
    expect(await setup.token()).toBe('access-0')
  })

  test('ends at the third 401 that comes at least a minute after the previous one', async () => {
    await grant(3600)
    for (let call = 0; call < 2; call++) {
      await refreshRejected().catch(() => {})
      setup.later(60)
    }
    await expect(refreshRejected()).rejects.toMatchObject({ code: 'connection_revoked' })
  })

  test('starts counting again after a successful call', async () => {
    await grant(3600)
    for (let call = 0; call < 2; call++) {
      await refreshRejected().catch(() => {})
      setup.later(61)
    }
    await setup.vault.tokenSource(REF).noteCall({ result: 'ok', call: 'GET leads', scope: 'leads' })
    await expect(refreshRejected()).rejects.toMatchObject({ code: 'platform_rejected' })
  })

  test('without expires_in does not expire, and is shown without an expiry', async () => {
    await grant(undefined)
    setup.later(24 * 3600)
    expect(await setup.token()).toBe('access-0')
    expect(await setup.vault.find(REF)).toMatchObject({ status: 'active', expiresAt: null })
  })
})

describe('invalid tokens', () => {
  test.each([
    ['a line break', 'a\nb'],
    ['a control character', 'a\u0001b'],
    ['a character that is not ASCII', 'tökén'],
    ['seven megabytes', 'x'.repeat(7_000_000)],
  ])(
    '(%s) are rejected with the name of the field, and the connection stays as it was',
    async (_what, bad) => {
      for (const field of ['access_token', 'refresh_token']) {
        setup = await connectedSetup()
        setup.endpoint.answers(tokens({ [field]: bad }))
        await expect(setup.vault.refresh(REF)).rejects.toMatchObject({
          code: 'platform_rejected',
          field,
        })
        expect(await setup.token()).toBe('access-0')
        await setup.close()
      }
    },
  )
})
