import { afterEach, describe, expect, test } from 'vitest'
import { oauthError } from '../../support/token-endpoint.ts'
import {
  connectedSetup,
  expiredSetup,
  GRANTED,
  REF,
  type VaultSetup,
  vaultSetup,
} from '../../support/vault.ts'

let setup: VaultSetup
afterEach(() => setup?.close())

const expired = async () => {
  setup = await expiredSetup()
}
const token = () => setup.vault.accessToken(REF)
const connection = () => setup.vault.find(REF)

describe('revocation', () => {
  test.each([200, 400, 401, 403])(
    'follows from invalid_grant (%i): the record keeps when and why, and no tokens',
    async (status) => {
      await expired()
      setup.endpoint.answers(oauthError('invalid_grant', status))
      await expect(token()).rejects.toMatchObject({ code: 'connection_revoked', status: 409 })
      expect(await connection()).toMatchObject({
        status: 'revoked',
        revokedAt: expect.any(Number),
        revokedReason: expect.stringContaining('invalid_grant'),
      })
      await expect(token()).rejects.toMatchObject({ code: 'connection_revoked' })
      expect(setup.endpoint.requests).toHaveLength(1)
    },
  )

  test('of a grant without a refresh token does not come early, even if a refresh is requested', async () => {
    setup = await vaultSetup()
    await setup.vault.connect(REF, { ...GRANTED, refreshToken: undefined })
    await setup.vault.refresh(REF)
    setup.later(299)
    expect(await token()).toBe('access-0')
    await setup.vault.idle()
    expect(await token()).toBe('access-0')
  })

  test('of a grant without a refresh token comes with the expiry of its access token', async () => {
    setup = await vaultSetup()
    await setup.vault.connect(REF, { ...GRANTED, refreshToken: undefined })
    setup.later(301)
    await expect(token()).rejects.toMatchObject({ code: 'connection_revoked' })
    expect(setup.endpoint.requests).toHaveLength(0)
  })

  test('follows if the API rejects the token and the refresh answers invalid_grant', async () => {
    setup = await connectedSetup()
    setup.endpoint.answers(oauthError('invalid_grant'))
    await expect(setup.vault.tokenSource(REF).refresh('access-0')).rejects.toMatchObject({
      code: 'connection_revoked',
    })
  })
})
