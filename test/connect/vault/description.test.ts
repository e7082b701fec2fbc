/** The description of a connection that users read. */
import { afterEach, expect, test } from 'vitest'
import { oauthError, tokens } from '../../support/token-endpoint.ts'
import { connectedSetup, consent, newKey, REF, type VaultSetup } from '../../support/vault.ts'

let setup: VaultSetup
afterEach(() => setup?.close())

const found = () => setup.vault.find(REF)

test('the list of a user has all connections of that user, also those that cannot be decrypted', async () => {
  setup = await connectedSetup()
  await consent(setup.vault, {}, { ...REF, userId: 'ben' })
  const lost = { ...REF, bxcontext: 'lost' }
  await consent(setup.anotherVault({ keys: [newKey('elsewhere')] }), {}, lost)
  const byId = Object.groupBy(await setup.vault.list(REF.userId), ({ bxcontext }) => bxcontext)
  expect(byId).toMatchObject({
    ctx: [{ view: { state: 'active' } }],
    lost: [{ view: { state: 'unreadable' }, missingKeyId: 'elsewhere' }],
  })
  await expect(setup.vault.find(lost)).rejects.toMatchObject({
    code: 'record_decryption_failed',
    status: 500,
  })
})

test('the names are those of the latest answer that has them, also when access has ended', async () => {
  const names = { businessName: 'Harbour Homes', userName: 'Olivia Hart' }
  setup = await connectedSetup()
  expect(await found()).toMatchObject({ businessName: null, userName: null })
  await consent(setup.vault, names)
  expect(await found()).toMatchObject(names)
  const renamed = { ...names, businessName: 'Harbour Group' }
  for (const [answer, shown] of [
    [tokens(), { ...names, view: { state: 'active' } }],
    [tokens({ business_name: 'Harbour Group' }), { ...renamed, view: { state: 'active' } }],
    [oauthError('invalid_grant'), { ...renamed, view: { state: 'revoked' } }],
  ] as const) {
    setup.endpoint.answers(answer)
    setup.later(5)
    await setup.vault.refresh(REF).catch(() => {})
    expect(await found()).toMatchObject(shown)
  }
})

// connection.test.ts and properties.test.ts show which events a label survives.
test('a label of the user ends with the connection', async () => {
  setup = await connectedSetup()
  await setup.vault.label(REF, 'Main shop')
  expect(await found()).toMatchObject({ label: 'Main shop' })
  await setup.vault.disconnect(REF)
  const again = setup.vault.label(REF, 'Second')
  await expect(again).rejects.toMatchObject({ code: 'not_connected' })
  await consent(setup.vault)
  expect(await found()).toMatchObject({ label: null })
})
