/** The platform refuses the app's own credentials, and not a single connection. */
import { afterEach, describe, expect, test } from 'vitest'
import { ConfigurationError } from '../../../src/connect/errors.ts'
import { oauthError, type Scripted, tokens } from '../../support/token-endpoint.ts'
import { CLIENT, consent, expiredSetup, REF, type VaultSetup } from '../../support/vault.ts'

let setup: VaultSetup
afterEach(() => setup?.close())

const OTHER = { ...REF, bxcontext: 'other' }
const REFUSED = oauthError('invalid_client', 401)
const states = async (vault = setup.vault) =>
  (await vault.list(REF.userId)).map(({ view }) => view.state).toSorted()

/** Two connections, of which one has expired, and the platform has refused this app. */
async function refusedSetup() {
  setup = await expiredSetup({ canRevoke: true })
  await consent(setup.vault, {}, OTHER)
  setup.endpoint.answers(REFUSED)
  await setup.token().catch(() => {})
}

describe('that the platform refuses this app', () => {
  test('is said of all connections, in every process, and ends none', async () => {
    await refusedSetup()
    expect(await states()).toEqual(['misconfigured', 'misconfigured'])
    expect(await states(setup.anotherVault())).toEqual(['misconfigured', 'misconfigured'])
    expect(await setup.vault.accessToken(OTHER)).toBe('access-0')
  })

  test('is said of a connection whose access has ended only as its end', async () => {
    await refusedSetup()
    setup.later(1)
    setup.endpoint.answers(oauthError('invalid_grant'), REFUSED)
    await setup.token().catch(() => {})
    await setup.vault.refresh(OTHER).catch(() => {})
    expect(await states()).toEqual(['misconfigured', 'revoked'])
  })

  test.each<[what: string, answer: Scripted]>([
    ['tokens', tokens()],
    ['invalid_grant', oauthError('invalid_grant')],
    ['a refusal of the request', oauthError('invalid_request')],
    ['an answer without a token', { status: 200, json: { expires_in: 300 } }],
  ])('ends with %s, for all connections at once', async (_what, answer) => {
    await refusedSetup()
    setup.endpoint.answers(answer)
    await setup.vault.refresh(OTHER).catch(() => {})
    expect(await setup.vault.credentials.areRefused()).toBe(false)
    expect(await states()).not.toContain('misconfigured')
  })

  test.each<[what: string, answer: Scripted]>([
    ['an outage', { status: 503, text: 'down' }],
    ['the page of a firewall', { status: 403, text: '<!DOCTYPE html>' }],
    ['the 401 of a gateway', { status: 401, json: { message: 'no API key' } }],
  ])('does not end with %s', async (_what, answer) => {
    await refusedSetup()
    setup.endpoint.answers(answer)
    await setup.vault.refresh(OTHER).catch(() => {})
    expect(await states()).toEqual(['misconfigured', 'misconfigured'])
  })

  test('is noticed when a code is exchanged, too', async () => {
    setup = await expiredSetup({ canRevoke: true })
    await setup.vault
      .connect(OTHER, async () => {
        throw new ConfigurationError('invalid_client')
      })
      .catch(() => {})
    expect(await states()).toEqual(['misconfigured'])
  })

  test('is neither begun nor ended by the revocation endpoint', async () => {
    setup = await expiredSetup({ canRevoke: true })
    await consent(setup.vault, {}, OTHER)
    setup.endpoint.answers(REFUSED)
    await setup.vault.disconnect(OTHER)
    expect(await states()).toEqual(['active'])
    await refusedSetup()
    setup.endpoint.answers({ text: '' })
    expect(await setup.vault.disconnect(OTHER)).toBe('revoked')
    expect(await states()).toEqual(['misconfigured'])
  })

  test('is neither begun nor ended by a call of the API', async () => {
    await refusedSetup()
    const source = setup.vault.tokenSource(OTHER)
    await source.accessToken()
    await source.noteCall({ result: 'ok', call: 'GET leads', scope: 'leads' })
    expect(await states()).toEqual(['misconfigured', 'misconfigured'])
  })

  test('is not said by a process with another secret', async () => {
    await refusedSetup()
    const corrected = setup.anotherVault({ client: { ...CLIENT, clientSecret: 'corrected' } })
    expect(await states(corrected)).toEqual(['active', 'active'])
    setup.endpoint.answers(tokens())
    await corrected.refresh(OTHER)
    expect(await states()).toEqual(['misconfigured', 'misconfigured'])
  })

  test('is asked once in a pause and logged once; callers without a token that works read why, and the connections stay', async () => {
    await refusedSetup()
    for (let time = 0; time < 3; time++)
      await expect(setup.token()).rejects.toMatchObject({ code: 'misconfigured', status: 500 })
    expect(setup.sent()).toEqual(['refresh-0'])
    const errors = setup.logLines.filter((line) => line.includes('"level":"error"'))
    expect(errors).toEqual([expect.stringContaining('invalid_client')])
    setup.later(1)
    setup.endpoint.answers(tokens({ access_token: 'next' }))
    expect(await setup.token()).toBe('next')
  })
})
