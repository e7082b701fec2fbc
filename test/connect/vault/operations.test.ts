import { afterEach, expect, test } from 'vitest'
import { platform } from '../../../src/connect/index.ts'
import { createFaultyStore } from '../../support/faulty-store.ts'
import { oauthError, tokens } from '../../support/token-endpoint.ts'
import { consent, REF, type VaultSetup, vaultSetup } from '../../support/vault.ts'

let setup: VaultSetup
afterEach(() => setup?.close())

test('whatever happens to a connection, it is one value in the store', async () => {
  setup = await vaultSetup()
  const { vault, store } = setup
  const source = vault.tokenSource(REF)
  await consent(vault)
  const token = await source.accessToken()
  await source.noteCall({ result: 'ok', call: 'GET /leads', scope: 'leads' })
  await source.noteCall({ result: 'forbidden', call: 'GET /catalogues', scopes: ['catalogues'] })
  setup.endpoint.answers(tokens(), { status: 503, json: {} }, oauthError('invalid_request'))
  await source.refresh(token)
  for (const seconds of [301, 31, 31]) {
    setup.later(seconds)
    await source.accessToken().catch(() => {})
  }
  expect(await vault.find(REF)).toMatchObject({ view: { state: 'revoked' } })
  expect(await store.ofOwner(REF.userId)).toHaveLength(1)
})

test('connecting, refreshing, listing and disconnecting take few operations of the store', async () => {
  const { store, count } = createFaultyStore()
  setup = await vaultSetup({ store })
  const { vault } = setup
  const operations = async (work: () => Promise<unknown>) => {
    const before = count()
    await work()
    return count() - before
  }
  expect(await operations(() => consent(vault))).toBeLessThanOrEqual(5)
  expect(await operations(() => vault.accessToken(REF))).toBe(1)
  expect(await operations(() => vault.list(REF.userId))).toBe(2)
  setup.later(301)
  expect(await operations(() => vault.accessToken(REF))).toBeLessThanOrEqual(6)
  expect(await operations(() => vault.disconnect(REF))).toBeLessThanOrEqual(3)
})

test.each(['', 'Other', 'other2', '2other', 'other-one'])(
  'the name of a platform, a part of the kind of its keys, is lower-case letters: not "%s"',
  async (name) => {
    await expect(vaultSetup({ platform: { ...platform, name } })).rejects.toThrow(
      `lower-case letters: ${name}`,
    )
  },
)
