import { afterEach, describe, expect, test } from 'vitest'
import { oauthError, tokens } from '../../support/token-endpoint.ts'
import {
  connectedSetup,
  consent,
  expiredSetup,
  REF,
  type VaultSetup,
  vaultSetup,
} from '../../support/vault.ts'

let setup: VaultSetup
afterEach(() => setup?.close())

const view = async () => (await setup.vault.find(REF))?.view
const REVOKED = { code: 'connection_revoked', status: 409 }

test.each([200, 400, 401, 403, 422])(
  'invalid_grant (%i) ends access: the record keeps when and why, and no tokens',
  async (status) => {
    setup = await expiredSetup()
    setup.endpoint.answers(oauthError('invalid_grant', status))
    for (let time = 0; time < 2; time++) await expect(setup.token()).rejects.toMatchObject(REVOKED)
    expect(await view()).toEqual({ state: 'revoked', at: expect.any(Number), reason: 'invalid_grant' })
    expect(await setup.vault.find(REF)).toMatchObject({ tokens: null })
    expect(setup.sent()).toHaveLength(1)
  },
)

test('access ends at once if the API rejects the token and the refresh answers invalid_grant', async () => {
  setup = await connectedSetup()
  setup.later(5)
  setup.endpoint.answers(oauthError('invalid_grant'))
  await expect(setup.vault.tokenSource(REF).refresh('access-0')).rejects.toMatchObject(REVOKED)
})

test('a consent without a refresh token keeps that of the connection', async () => {
  setup = await connectedSetup()
  await consent(setup.vault, { accessToken: 'newer', refreshToken: undefined })
  expect(await setup.token()).toBe('newer')
  setup.later(301)
  setup.endpoint.answers(tokens({ access_token: 'next' }))
  expect(await setup.token()).toBe('next')
  expect(setup.sent()).toEqual(['refresh-0'])
})

describe('a connection without a refresh token', () => {
  const connect = async (expiresIn?: number) => {
    setup = await vaultSetup()
    await consent(setup.vault, { refreshToken: undefined, expiresIn })
  }
  const reject = () => setup.vault.tokenSource(REF).refresh('access-0')

  test('is used until its access token expires, also if a person asks for a refresh, and ends then', async () => {
    await connect(300)
    const { tokens: facts } = (await setup.vault.find(REF)) ?? {}
    setup.later(299)
    expect(await setup.vault.refresh(REF)).toBe(false)
    expect(await setup.token()).toBe('access-0')
    setup.later(1)
    const end = { state: 'revoked', at: facts?.expiresAt, reason: 'expired' }
    expect(await view()).toEqual(end)
    await expect(setup.token()).rejects.toMatchObject(REVOKED)
    expect(await view()).toEqual(end)
    expect(setup.sent()).toEqual([])
  })

  test('ends with its access token also if the API has just rejected that', async () => {
    await connect(300)
    setup.later(299)
    await expect(reject()).rejects.toMatchObject({ code: 'platform_rejected' })
    setup.later(1)
    await expect(setup.token()).rejects.toMatchObject(REVOKED)
    await expect(reject()).rejects.toMatchObject(REVOKED)
  })

  test.each([undefined, 0])(
    'whose token has the lifetime %s is used until the API rejects it',
    async (expiresIn) => {
      await connect(expiresIn)
      setup.later(24 * 3_600)
      expect(await setup.token()).toBe('access-0')
      expect(await setup.vault.find(REF)).toMatchObject({
        view: { state: 'active' },
        tokens: { expiresAt: null },
      })
    },
  )

  test('ends at the third rejection that comes a minute after the one before', async () => {
    await connect()
    for (let minute = 0; minute < 2; minute++) {
      for (let call = 0; call < 20; call++)
        await expect(reject()).rejects.toMatchObject({ code: 'platform_rejected' })
      expect(await setup.token()).toBe('access-0')
      setup.later(60)
    }
    await expect(reject()).rejects.toMatchObject(REVOKED)
    expect(await view()).toMatchObject({ state: 'revoked', reason: 'rejected' })
  })

  test('survives rejections with a successful call between them', async () => {
    await connect()
    const source = setup.vault.tokenSource(REF)
    for (let minute = 0; minute < 5; minute++) {
      await reject().catch(() => {})
      await source.accessToken()
      if (minute % 2 > 0) await source.noteCall({ result: 'ok', call: 'GET leads', scope: 'leads' })
      setup.later(60)
    }
    expect(await setup.token()).toBe('access-0')
  })

  test('is logged with a warning that it ends, and other connections are not', async () => {
    const warnings = () =>
      setup.logLines.filter((line) => line.includes('the platform issued no refresh token'))
    await connect()
    expect(warnings()).toHaveLength(1)
    await setup.close()
    setup = await connectedSetup()
    expect(warnings()).toEqual([])
  })
})
