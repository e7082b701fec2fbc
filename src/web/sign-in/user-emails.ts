import { createRecordCipher, type EncryptionKey } from '../../connect/index.ts'
import { type Key, type KeyValueStore, keyText } from '../../connect/stores.ts'

const keyOf = (userId: string): Key => ({ kind: 'user-email', owner: userId, id: '' })

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
  }
}
