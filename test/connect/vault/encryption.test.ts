import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { StoreUnavailableError } from '../../../src/connect/errors.ts'
import { platform, reencrypt } from '../../../src/connect/index.ts'
import { keyText } from '../../../src/connect/stores.ts'
import { createRecordCipher, DecryptionError, isEncrypted } from '../../../src/connect/vault/encryption.ts'
import { oauthError } from '../../support/token-endpoint.ts'
import {
  connectedSetup,
  consent,
  newKey,
  REF,
  refusingStore,
  type VaultSetup,
  vaultSetup,
} from '../../support/vault.ts'

const [older, newer] = [newKey('older'), newKey('newer')]

test('a value counts as encrypted if the whole text has the form of one', () => {
  const sealed = createRecordCipher([newer]).encrypt('text', 'aad')
  expect([sealed, `x${sealed}`, `${sealed}.x`, 'v1.text'].map(isEncrypted)).toEqual([
    true,
    false,
    false,
    false,
  ])
})

test('a cipher needs a key', () => expect(() => createRecordCipher([])).toThrow('at least one key'))
let setup: VaultSetup | undefined
afterEach(() => setup?.close())

describe('an encrypted text', () => {
  const cipher = createRecordCipher([newKey()])

  test('decrypts with the same associated data, whatever they contain', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (text, aad) => {
        expect(cipher.decrypt(cipher.encrypt(text, aad), aad)).toBe(text)
      }),
    )
  })

  test.each(['', 'v1', 'v1.k1', 'v1.k1.', 'v1.k1.abc.def', 'v2.k1.abc', '{"a":1}'])(
    'is nothing like %j',
    (text) => {
      expect(() => cipher.decrypt(text, 'place')).toThrow(DecryptionError)
    },
  )

  test('does not decrypt if any bit, its version or its parts were changed', () => {
    const encrypted = cipher.encrypt('some text that is secret', 'place')
    for (const text of [encrypted.replace('v1', 'v2'), `${encrypted}.more`])
      expect(() => cipher.decrypt(text, 'place')).toThrow(DecryptionError)
    const body = encrypted.split('.')[2] ?? ''
    const bytes = Buffer.from(body, 'base64url')
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.nat(7), (index, bit) => {
        const changed = bytes.map((byte, at) => (at === index ? byte ^ (1 << bit) : byte))
        const text = `v1.k1.${Buffer.from(changed).toString('base64url')}`
        expect(() => cipher.decrypt(text, 'place')).toThrow(DecryptionError)
      }),
    )
  })
})

test.each([
  ['has a dot', [newKey('one'), newKey('2026.1')], /letters, digits/],
  ['is given twice', [newKey('one'), newKey('one')], /the same id/],
])('a key whose id %s is refused: what it encrypts could not be decrypted', (_what, keys, message) => {
  expect(() => createRecordCipher(keys)).toThrow(message)
})

describe('the records of the vault', () => {
  test('hide tokens and names in the store', async () => {
    setup = await vaultSetup()
    await consent(setup.vault, { businessName: 'Harbour Homes' })
    const stored = JSON.stringify(await setup.store.ofOwner(REF.userId))
    expect(stored).not.toMatch(/access-0|refresh-0|Harbour/)
  })

  test('are bound to their place: a copy under another user does not decrypt', async () => {
    setup = await connectedSetup()
    // A record that was decrypted for its user stays decrypted.
    expect(await setup.token()).toBe('access-0')
    for (const { key, value } of await setup.store.ofOwner(REF.userId))
      await setup.store.set({ ...key, owner: 'mallory' }, value)
    const stolen = { ...REF, userId: 'mallory' }
    await expect(setup.vault.accessToken(stolen)).rejects.toMatchObject({ code: 'record_decryption_failed' })
  })

  test.each([
    ['a new key is added last', [older], [older, newer]],
    ['the new key moves to the front', [older, newer], [newer, older]],
  ])('are read by processes before and after a step of a rotation: %s', async (_step, before, after) => {
    setup = await connectedSetup({ keys: before })
    const other = setup.anotherVault({ keys: after })
    await consent(other, {}, { ...REF, bxcontext: 'b' })
    for (const vault of [setup.vault, other])
      expect(await vault.list(REF.userId)).toMatchObject([
        { view: { state: 'active' } },
        { view: { state: 'active' } },
      ])
  })
})

describe('re-encryption', () => {
  const run = ({ store }: VaultSetup) => Array.fromAsync(reencrypt(store, [newer, older]))

  test('encrypts every record with the first key, ended ones too: the old key can be removed', async () => {
    setup = await connectedSetup({ keys: [older] })
    const ended = { ...REF, userId: 'ben' }
    await consent(setup.vault, {}, ended)
    setup.later(301)
    setup.endpoint.answers(oauthError('invalid_grant'))
    await setup.vault.accessToken(ended).catch(() => {})
    expect(await run(setup)).toEqual(['reencrypted', 'reencrypted'])
    expect(await run(setup)).toEqual(['current', 'current'])
    const withoutOld = setup.anotherVault({ keys: [newer] })
    expect(await withoutOld.list(REF.userId)).toMatchObject([{ view: { state: 'active' } }])
    expect(await withoutOld.list('ben')).toMatchObject([{ view: { state: 'revoked' } }])
  })

  test('includes the connections of every platform and other encrypted values, and changes no other value', async () => {
    setup = await vaultSetup({ keys: [older] })
    const { store, anotherVault } = setup
    await consent(anotherVault({ keys: [older], platform: { ...platform, name: 'another' } }), {})
    const key = { kind: 'secret', owner: 'ann', id: '' }
    await store.set(key, createRecordCipher([older]).encrypt('of a feature', keyText(key)))
    await store.set({ ...key, kind: 'plain' }, 'v1 is not encrypted')
    expect(await run(setup)).toEqual(['reencrypted', 'reencrypted'])
    expect(createRecordCipher([newer]).decrypt((await store.get(key)) ?? '', keyText(key))).toBe(
      'of a feature',
    )
    expect(await store.get({ ...key, kind: 'plain' })).toBe('v1 is not encrypted')
    const withoutOld = anotherVault({ keys: [newer], platform: { ...platform, name: 'another' } })
    expect(await withoutOld.accessToken(REF)).toBe('access-0')
  })

  test('says why it cannot decrypt a record, and leaves it', async () => {
    setup = await connectedSetup({ keys: [older] })
    for (const { key } of await setup.store.ofOwner(REF.userId))
      await setup.store.set(key, 'of another format')
    await consent(setup.anotherVault({ keys: [newKey('lost')] }), {}, { ...REF, userId: 'ben' })
    const outcomes = await run(setup)
    expect(outcomes.map(String).sort()).toEqual([
      expect.stringContaining('a format that this version of the app cannot read'),
      expect.stringContaining('the key "lost"'),
    ])
    expect(await setup.vault.list(REF.userId)).toMatchObject([{ view: { state: 'unreadable' } }])
  })

  test('ends if the store fails: its records do not count as unreadable', async () => {
    const { store, refuses } = refusingStore()
    setup = await connectedSetup({ store, keys: [older] })
    refuses.writes = true
    await expect(run(setup)).rejects.toThrow(StoreUnavailableError)
  })
})
