import { afterEach, describe, expect, test } from 'vitest'
import { oauthError, tokens } from '../../support/token-endpoint.ts'
import { connectedSetup, REF, type VaultSetup } from '../../support/vault.ts'

let setup: VaultSetup
afterEach(() => setup?.close())

describe('the health of a connection', () => {
  const source = () => setup.vault.tokenSource(REF)
  const shown = (vault = setup.vault) => vault.find(REF)
  const OK = { result: 'ok', call: 'GET leads', scope: 'leads' } as const
  const connect = async () => {
    setup = await connectedSetup()
  }

  test('follows the latest call: a successful call ends an outage at once', async () => {
    await connect()
    await source().noteCall({ result: 'unavailable', kind: 'error' })
    expect(await shown()).toMatchObject({ problem: 'error' })
    await source().noteCall(OK)
    expect(await shown()).toMatchObject({ problem: null })
  })

  test('is the same in every process', async () => {
    await connect()
    const other = setup.anotherVault()
    await source().noteCall({ result: 'unavailable', kind: 'no_answer' })
    expect(await shown(other)).toMatchObject({ problem: 'no_answer' })
    await other.tokenSource(REF).noteCall(OK)
    expect(await shown()).toMatchObject({ problem: null })
  })

  test('names the scope that the API required, until a call with that scope succeeds', async () => {
    await connect()
    await source().noteCall({ result: 'forbidden', call: 'GET leads', scope: 'leads' })
    await source().noteCall({ result: 'ok', call: 'GET catalogues', scope: 'catalogues' })
    expect(await shown()).toMatchObject({ problem: null, forbidden: ['leads'] })
    await source().noteCall(OK)
    expect(await shown()).toMatchObject({ forbidden: [] })
  })

  test('shows wrong credentials of this app until a refresh succeeds', async () => {
    await connect()
    setup.later(250)
    setup.endpoint.answers(oauthError('invalid_client', 401), tokens())
    await setup.token()
    await setup.vault.idle()
    await source().noteCall(OK)
    await source().noteCall({ result: 'unavailable', kind: 'error' })
    await source().noteCall({ result: 'forbidden', call: 'GET leads', scope: 'leads' })
    expect(await shown()).toMatchObject({ problem: 'misconfigured' })
    setup.later(60)
    await setup.token()
    expect(await shown()).toMatchObject({ problem: null })
  })

  test('ignores a health record that cannot be read', async () => {
    await connect()
    await setup.store.set({ kind: 'platform-health', owner: 'ann', id: 'ctx' }, '{"broken')
    expect(await setup.vault.list('ann')).toMatchObject([{ status: 'active', problem: null }])
  })
})
