import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { AppError } from '../app-error.ts'

/** A key that encrypts records: AES-256, so 32 bytes; the id is stored with each record. */
export interface EncryptionKey {
  id: string
  secret: Buffer
}

export interface RecordCipher {
  /** The id of the key that encrypts. */
  readonly keyId: string
  /** `v1.<key id>.<base64url of iv, ciphertext, tag>`, bound to `place` (the storage key): it decrypts nowhere else. */
  encrypt(text: string, place: string): string
  /** The text. Throws `DecryptionError`. */
  decrypt(encrypted: string, place: string): string
}

/** A record that cannot be decrypted; the message says which key id is missing, or that the record is in the wrong place. */
export class DecryptionError extends AppError {
  readonly code = 'record_unreadable'
  readonly status = 500
  /** The id of the key that the record needs, when that is what is missing. */
  readonly missingKeyId: string | undefined

  constructor(message: string, missingKeyId?: string) {
    super(message, { reason: message })
    this.missingKeyId = missingKeyId
  }
}

const ALGORITHM = 'aes-256-gcm'
const IV_BYTES = 12
const TAG_BYTES = 16

/**
 * Encrypts records at rest with AES-256-GCM. The first key encrypts, all of them decrypt, so keys rotate in two steps: add
 * the new one last everywhere, then move it to the front. The place (the storage key) is associated data (NIST SP
 * 800-38D), so that a record copied to another user's key does not decrypt.
 */
export function createRecordCipher(keys: readonly EncryptionKey[]): RecordCipher {
  const [current] = keys
  if (!current) throw new Error('A cipher needs at least one key')
  const secrets = new Map(keys.map(({ id, secret }) => [id, secret]))

  return {
    keyId: current.id,

    encrypt(text, place) {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv(ALGORITHM, current.secret, iv, { authTagLength: TAG_BYTES })
      cipher.setAAD(Buffer.from(place))
      const encrypted = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
      return `v1.${current.id}.${encrypted.toString('base64url')}`
    },

    decrypt(encrypted, place) {
      const [version, id, body, more] = encrypted.split('.')
      if (version !== 'v1' || id === undefined || body === undefined || more !== undefined) {
        throw new DecryptionError('A stored record is not of a form that this version of the app can read.')
      }
      const secret = secrets.get(id)
      if (!secret) {
        throw new DecryptionError(
          `A stored record was encrypted with the key "${id}", which is not in TOKEN_KEYS.`,
          id,
        )
      }
      const bytes = Buffer.from(body, 'base64url')
      try {
        const decipher = createDecipheriv(ALGORITHM, secret, bytes.subarray(0, IV_BYTES), {
          authTagLength: TAG_BYTES,
        })
        decipher.setAAD(Buffer.from(place))
        decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
        const text = decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES))
        return Buffer.concat([text, decipher.final()]).toString('utf8')
      } catch {
        throw new DecryptionError(
          `A stored record does not open with the key "${id}": it was altered, moved from another key, or encrypted with another secret of that id.`,
        )
      }
    },
  }
}
