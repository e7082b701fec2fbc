import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { CoreError } from '../app-error.ts'

/** A key that encrypts records. Its id is stored with each record. */
export interface EncryptionKey {
  id: string
  /** 32 bytes (AES-256). */
  secret: Buffer
}

export type RecordCipher = ReturnType<typeof createRecordCipher>

/** A record cannot be decrypted. The message names the missing key, or other possible causes. */
export class DecryptionError extends CoreError {
  readonly code = 'record_decryption_failed'
  readonly status = 500
  /** The id of the key that is missing, if that is the reason. */
  readonly missingKeyId: string | undefined

  constructor(message: string, missingKeyId?: string) {
    super(message, { reason: message })
    this.missingKeyId = missingKeyId
  }
}

/** Throws `DecryptionError`. */
export function unknownFormat(): never {
  throw new DecryptionError('A stored record has a format that this version of the app cannot read.')
}

const ALGORITHM = 'aes-256-gcm'
const IV_BYTES = 12
const TAG_BYTES = 16
const KEY_ID = /^[\w-]{1,32}$/

/** Whether a text has the form that `encrypt` returns. */
export const isEncrypted = (text: string): boolean => /^v1\.[\w-]{1,32}\.[\w-]+$/.test(text)

/**
 * Encrypts records at rest with AES-256-GCM. The first key encrypts, and all keys decrypt. So rotate keys in two steps: add the new
 * key at the end in every process, then move it to the front. The storage key is associated data (NIST SP 800-38D), so a record
 * that is copied to another user's key does not decrypt.
 */
export function createRecordCipher(keys: readonly EncryptionKey[]) {
  const [current] = keys
  if (!current) throw new Error('A cipher needs at least one key')
  const secrets = new Map(keys.map(({ id, secret }) => [id, secret]))
  // If two keys had the same id, the first would encrypt, but only the last would decrypt.
  if (secrets.size < keys.length) throw new Error('Two encryption keys have the same id')
  if (keys.some(({ id }) => !KEY_ID.test(id)))
    throw new Error('The id of an encryption key must be 1 to 32 letters, digits, hyphens or underscores')

  return {
    /** Whether the first key encrypted this text. */
    isCurrent: (encrypted: string): boolean => encrypted.startsWith(`v1.${current.id}.`),

    /** Encrypts to `v1.<key id>.<base64url of iv, ciphertext, tag>`. Only the same `aad` (the storage key) decrypts it. */
    encrypt(text: string, aad: string): string {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv(ALGORITHM, current.secret, iv, { authTagLength: TAG_BYTES })
      cipher.setAAD(Buffer.from(aad))
      const encrypted = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
      return `v1.${current.id}.${encrypted.toString('base64url')}`
    },

    /** Returns the text. Throws `DecryptionError`. */
    decrypt(encrypted: string, aad: string): string {
      const [version, id, body, ...rest] = encrypted.split('.')
      if (version !== 'v1' || id === undefined || body === undefined || rest.length > 0) unknownFormat()
      const secret = secrets.get(id)
      if (!secret)
        throw new DecryptionError(
          `A stored record was encrypted with the key "${id}", which is not in TOKEN_ENCRYPTION_KEYS.`,
          id,
        )
      const bytes = Buffer.from(body, 'base64url')
      try {
        const decipher = createDecipheriv(ALGORITHM, secret, bytes.subarray(0, IV_BYTES), {
          authTagLength: TAG_BYTES,
        })
        decipher.setAAD(Buffer.from(aad))
        decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
        const text = decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES))
        return Buffer.concat([text, decipher.final()]).toString('utf8')
      } catch {
        throw new DecryptionError(
          `A stored record cannot be decrypted with the key "${id}": it was altered, copied from another record, or encrypted with another secret of that id.`,
        )
      }
    },
  }
}
