import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { createRecordCipher } from '../../../src/connect/vault/encryption.ts'
import { tokens } from '../../support/token-endpoint.ts'
import { GRANTED, newKey, type VaultSetup, vaultSetup } from '../../support/vault.ts'

describe('a encrypted record', () => {
  const cipher = createRecordCipher([newKey()])

  test('opens to the same text at its own place, whatever text and place', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (text, place) => {
        expect(cipher.decrypt(cipher.encrypt(text, place), place)).toBe(text)
      }),
    )
  })

  test('does not open at another place', () => {
    const encrypted = cipher.encrypt('text', 'connect:connection:{ann}:ctx')
    expect(() => cipher.decrypt(encrypted, 'connect:connection:{bob}:ctx')).toThrow(/does not open/)
  })

  test('does not open once any character of it is changed', () => {
    const encrypted = cipher.encrypt('some text that is secret', 'place')
    fc.assert(
      fc.property(fc.nat(encrypted.length - 1), fc.constantFrom(...'ABCabc019-_.'), (at, char) => {
        const changed = encrypted.slice(0, at) + char + encrypted.slice(at + 1)
        // The last character of base64 has bits that carry nothing.
        const same = Buffer.from(changed.split('.')[2] ?? '', 'base64url').equals(
          Buffer.from(encrypted.split('.')[2] ?? '', 'base64url'),
        )
        fc.pre(!(same && changed.startsWith('v1.k1.') && changed.split('.').length === 3))
        expect(() => cipher.decrypt(changed, 'place')).toThrow()
      }),
    )
  })

  test('shows nothing of its text, and is different each time', () => {
    const [one, two] = [cipher.encrypt('access-token', 'p'), cipher.encrypt('access-token', 'p')]
    expect(one).not.toBe(two)
    expect(Buffer.from(one.split('.')[2] ?? '', 'base64url').toString('latin1')).not.toContain('access')
  })

  test('of a key that is gone says which key id is missing', () => {
    const encrypted = createRecordCipher([newKey('old')]).encrypt('text', 'place')
    expect(() => createRecordCipher([newKey('new')]).decrypt(encrypted, 'place')).toThrow(
      /"old", which is not in TOKEN_KEYS/,
    )
  })
})

describe('keys of the vault', () => {
  let setup: VaultSetup
  afterEach(() => setup.close())
  const [older, newer] = [newKey('older'), newKey('newer')]
  const encryptedWith = async () =>
    (await setup.store.get({ kind: 'connection', owner: 'ann', id: 'ctx' }))?.split('.')[1]

  test('rotate: an old record opens, and is encrypted with the new key at its next write', async () => {
    setup = await vaultSetup({ keys: [older] })
    await setup.vault.connect('ann', 'ctx', GRANTED)
    const rotated = setup.anotherVault({ keys: [newer, older] })
    expect(await rotated.accessToken('ann', 'ctx')).toBe('access-0')
    expect(await encryptedWith()).toBe('older')
    setup.later(301)
    setup.endpoint.answers(tokens({ access_token: 'next' }))
    expect(await rotated.accessToken('ann', 'ctx')).toBe('next')
    expect(await encryptedWith()).toBe('newer')
  })

  test('reencrypt encrypts every record with the first key, after which the old key can go', async () => {
    setup = await vaultSetup({ keys: [older] })
    for (const context of ['ctx', 'b', 'c']) await setup.vault.connect('ann', context, GRANTED)
    const rotated = setup.anotherVault({ keys: [newer, older] })
    expect(await rotated.reencrypt()).toEqual({ reencrypted: 3, current: 0, unreadable: [] })
    expect(await rotated.reencrypt()).toEqual({ reencrypted: 0, current: 3, unreadable: [] })
    expect(await setup.anotherVault({ keys: [newer] }).accessToken('ann', 'b')).toBe('access-0')
  })

  test('that are wrong make one connection unreadable, named in the list, and leave the others', async () => {
    setup = await vaultSetup({ keys: [older] })
    await setup.vault.connect('ann', 'ctx', GRANTED)
    const wrong = setup.anotherVault({ keys: [newer] })
    await wrong.connect('ann', 'fine', GRANTED)
    await expect(wrong.accessToken('ann', 'ctx')).rejects.toMatchObject({
      code: 'record_unreadable',
      missingKeyId: 'older',
    })
    expect(await wrong.list('ann')).toMatchObject([
      { context: 'fine', status: 'active' },
      { context: 'ctx', status: 'unreadable', reason: expect.stringContaining('"older"') },
    ])
  })

  test('bind a record to its user: a copy under another user does not open, even once the original was read', async () => {
    setup = await vaultSetup({ keys: [older] })
    await setup.vault.connect('ann', 'ctx', GRANTED)
    await setup.vault.accessToken('ann', 'ctx')
    const stolen = await setup.store.get({ kind: 'connection', owner: 'ann', id: 'ctx' })
    await setup.store.set({ kind: 'connection', owner: 'mallory', id: 'ctx' }, stolen as string)
    await expect(setup.vault.accessToken('mallory', 'ctx')).rejects.toMatchObject({
      code: 'record_unreadable',
    })
  })

  test('show nothing of a connection in the store', async () => {
    setup = await vaultSetup({ keys: [older] })
    await setup.vault.connect('ann', 'ctx', GRANTED)
    const encrypted = await setup.store.get({ kind: 'connection', owner: 'ann', id: 'ctx' })
    expect(Buffer.from(encrypted?.split('.')[2] ?? '', 'base64url').toString('latin1')).not.toMatch(
      /access|refresh|leads/,
    )
  })
})
