import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { createRecordCipher, DecryptionError } from '../../../src/connect/vault/encryption.ts'
import { tokens } from '../../support/token-endpoint.ts'
import { GRANTED, newKey, REF, type VaultSetup, vaultSetup } from '../../support/vault.ts'

describe('an encrypted record', () => {
  const cipher = createRecordCipher([newKey()])

  test('decrypts to the same text with the same associated data, whatever they contain', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (text, aad) => {
        expect(cipher.decrypt(cipher.encrypt(text, aad), aad)).toBe(text)
      }),
    )
  })

  test('of an earlier release decrypts', () => {
    const earlier = createRecordCipher([{ id: 'k1', secret: Buffer.alloc(32, 7) }])
    const encrypted = 'v1.k1.WXxj5MqbdzPXgggLfHm16qlrWcpswZonXISpWziANxmUJNh3VX0'
    expect(earlier.decrypt(encrypted, 'connect:thing:{ann}:id')).toBe('the record')
    expect(earlier.encrypt('the record', 'connect:thing:{ann}:id')).toHaveLength(encrypted.length)
  })

  test.each(['', 'v1', 'v1.k1', 'v1.k1.', 'v1.k1.abc.def', 'v2.k1.abc', '{"a":1}'])(
    'is nothing like %j, which is refused as unreadable',
    (text) => {
      expect(() => cipher.decrypt(text, 'place')).toThrow(DecryptionError)
    },
  )

  test('does not decrypt with other associated data', () => {
    const encrypted = cipher.encrypt('text', 'connect:platform-connection:{ann}:ctx')
    expect(() => cipher.decrypt(encrypted, 'connect:platform-connection:{bob}:ctx')).toThrow(
      /cannot be decrypted/,
    )
  })

  test('does not decrypt if any character was changed', () => {
    const encrypted = cipher.encrypt('some text that is secret', 'place')
    fc.assert(
      fc.property(fc.nat(encrypted.length - 1), fc.constantFrom(...'ABCabc019-_.'), (index, char) => {
        const changed = encrypted.slice(0, index) + char + encrypted.slice(index + 1)
        // The last character of base64 has unused bits.
        const same = Buffer.from(changed.split('.')[2] ?? '', 'base64url').equals(
          Buffer.from(encrypted.split('.')[2] ?? '', 'base64url'),
        )
        fc.pre(!(same && changed.startsWith('v1.k1.') && changed.split('.').length === 3))
        expect(() => cipher.decrypt(changed, 'place')).toThrow()
      }),
    )
  })

  test('does not contain its text, and differs each time', () => {
    const [one, two] = [cipher.encrypt('access-token', 'p'), cipher.encrypt('access-token', 'p')]
    expect(one).not.toBe(two)
    expect(Buffer.from(one.split('.')[2] ?? '', 'base64url').toString('latin1')).not.toContain('access')
  })

  test('names the missing key id', () => {
    const encrypted = createRecordCipher([newKey('old')]).encrypt('text', 'place')
    expect(() => createRecordCipher([newKey('new')]).decrypt(encrypted, 'place')).toThrow(
      /"old", which is not in TOKEN_ENCRYPTION_KEYS/,
    )
  })
})

test.each([
  ['has a dot', [newKey('2026.1')], /letters, digits/],
  ['is given twice', [newKey('one'), newKey('one')], /the same id/],
])('a key whose id %s is refused: what it encrypts could not be decrypted', (_what, keys, message) => {
  expect(() => createRecordCipher(keys)).toThrow(message)
})

describe('keys of the vault', () => {
  let setup: VaultSetup
  afterEach(() => setup.close())
  const [older, newer] = [newKey('older'), newKey('newer')]
  const encryptedWith = async () =>
    (await setup.store.get({ kind: 'platform-connection', owner: 'ann', id: 'ctx' }))?.split('.')[1]

  test('rotate: an old record decrypts, and its next write uses the new key', async () => {
    setup = await vaultSetup({ keys: [older] })
    await setup.vault.connect(REF, GRANTED)
    const rotated = setup.anotherVault({ keys: [newer, older] })
    expect(await rotated.accessToken(REF)).toBe('access-0')
    expect(await encryptedWith()).toBe('older')
    setup.later(301)
    setup.endpoint.answers(tokens({ access_token: 'next' }))
    expect(await rotated.accessToken(REF)).toBe('next')
    expect(await encryptedWith()).toBe('newer')
  })

  test('can be removed after reencrypt, which encrypts every record with the first key', async () => {
    setup = await vaultSetup({ keys: [older] })
    for (const bxcontext of ['ctx', 'b', 'c'])
      await setup.vault.connect({ userId: 'ann', bxcontext }, GRANTED)
    const rotated = setup.anotherVault({ keys: [newer, older] })
    expect(await rotated.reencrypt()).toEqual({ reencrypted: 3, current: 0, unreadable: 0, reasons: [] })
    expect(await rotated.reencrypt()).toEqual({ reencrypted: 0, current: 3, unreadable: 0, reasons: [] })
    expect(await setup.anotherVault({ keys: [newer] }).accessToken({ userId: 'ann', bxcontext: 'b' })).toBe(
      'access-0',
    )
  })

  test('that are missing make a connection unreadable in the list, and do not affect the others', async () => {
    setup = await vaultSetup({ keys: [older] })
    await setup.vault.connect(REF, GRANTED)
    const wrong = setup.anotherVault({ keys: [newer] })
    await wrong.connect({ userId: 'ann', bxcontext: 'fine' }, GRANTED)
    await expect(wrong.accessToken(REF)).rejects.toMatchObject({
      status: 500,
      code: 'record_decryption_failed',
      missingKeyId: 'older',
    })
    expect(await wrong.list('ann')).toMatchObject([
      { bxcontext: 'fine', status: 'active' },
      { bxcontext: 'ctx', status: 'unreadable', reason: expect.stringContaining('"older"') },
    ])
  })

  test('bind a record to its user: a copy under another user does not decrypt, even after the original was read', async () => {
    setup = await vaultSetup({ keys: [older] })
    await setup.vault.connect(REF, GRANTED)
    await setup.vault.accessToken(REF)
    const stolen = await setup.store.get({ kind: 'platform-connection', owner: 'ann', id: 'ctx' })
    await setup.store.set({ kind: 'platform-connection', owner: 'mallory', id: 'ctx' }, stolen as string)
    await expect(setup.vault.accessToken({ userId: 'mallory', bxcontext: 'ctx' })).rejects.toMatchObject({
      code: 'record_decryption_failed',
    })
  })

  test('hide the content of a connection in the store', async () => {
    setup = await vaultSetup({ keys: [older] })
    await setup.vault.connect(REF, GRANTED)
    const encrypted = await setup.store.get({ kind: 'platform-connection', owner: 'ann', id: 'ctx' })
    expect(Buffer.from(encrypted?.split('.')[2] ?? '', 'base64url').toString('latin1')).not.toMatch(
      /access|refresh|leads/,
    )
  })
})

describe('two processes while keys rotate', () => {
  let setup: VaultSetup
  afterEach(() => setup.close())
  const [older, newer] = [newKey('older'), newKey('newer')]

  test.each([
    ['when the new key is added last', [older], [older, newer]],
    ['when the new key moves to the front', [older, newer], [newer, older]],
  ])('(%s) read each other’s records', async (_step, before, now) => {
    setup = await vaultSetup({ keys: before })
    const other = setup.anotherVault({ keys: now })
    await setup.vault.connect({ userId: 'ann', bxcontext: 'one' }, GRANTED)
    await other.connect({ userId: 'ann', bxcontext: 'two' }, GRANTED)
    for (const vault of [setup.vault, other])
      for (const bxcontext of ['one', 'two'])
        expect(await vault.accessToken({ userId: 'ann', bxcontext })).toBe('access-0')
  })
})
