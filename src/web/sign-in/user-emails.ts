import { DecryptionError } from '../../connect/errors.ts'
import { createRecordCipher, type EncryptionKey, type Reencryption } from '../../connect/index.ts'
import { allOwners, type Key, type KeyValueStore, keyText } from '../../connect/stores.ts'

const KIND = 'user-email'
const keyOf = (userId: string): Key => ({ kind: KIND, owner: userId, id: '' })

/**
 * The encrypted email addresses of users, because OpenID Connect reports them only at sign-in. The first key encrypts; all keys
 * decrypt. Methods throw `StoreUnavailableError`. Methods that read an address also throw `DecryptionError`.
 */
export function createUserEmails(store: KeyValueStore, keys: readonly EncryptionKey[]) {
  const cipher = createRecordCipher(keys)
  const seal = (key: Key, email: string) => cipher.encrypt(email, keyText(key))
  const open = (key: Key, sealed: string) => cipher.decrypt(sealed, keyText(key))
  async function emailOf(userId: string): Promise<string | null> {
    const key = keyOf(userId)
    const sealed = await store.get(key)
    return sealed === null ? null : open(key, sealed)
  }
  async function reencryptUser(userId: string): Promise<Reencryption> {
    const key = keyOf(userId)
    const sealed = await store.get(key)
    if (sealed === null || cipher.isCurrent(sealed)) return 'current'
    try {
      // If the user has just signed in, the write fails, because the first key has already encrypted the new address.
      await store.compareAndSet(key, sealed, seal(key, open(key, sealed)))
      return 'reencrypted'
    } catch (error) {
      if (error instanceof DecryptionError) return error
      throw error
    }
  }
  return {
    emailOf,
    /** Stores the address of the last sign-in, and deletes an older address. Null: the sign-in has no address. */
    async keep(userId: string, email: string | null): Promise<void> {
      const key = keyOf(userId)
      if (email === null) await store.delete(key)
      else await store.set(key, seal(key, email))
    },
    deleteUser: async (userId: string) => void (await store.delete(keyOf(userId))),
    async exportUser(userId: string) {
      const email = await emailOf(userId)
      return email === null ? null : { email }
    },
    async *reencrypt(): AsyncIterable<Reencryption> {
      for await (const userId of allOwners(store, KIND)) yield await reencryptUser(userId)
    },
  }
}
