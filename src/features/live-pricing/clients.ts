import { createHmac, generateKeySync, timingSafeEqual } from 'node:crypto'

/** A caller of the live pricing API. During rotation, several secrets are valid. */
export interface Client {
  id: string
  secrets: readonly string[]
}

export type Clients = ReturnType<typeof createClients>

/** Compares HMACs under a random key, so that neither timing nor length reveals anything about a secret. */
export function createClients(clients: readonly Client[]) {
  // Not bytes: with those, an HMAC takes six times as long.
  const key = generateKeySync('hmac', { length: 256 })
  const digest = (text: string) => createHmac('sha256', key).update(text).digest()
  const pairs = clients.flatMap(({ id, secrets }) =>
    secrets.map((secret) => ({ id: digest(id), secret: digest(secret) })),
  )
  const ids = new Set(clients.map(({ id }) => id))
  return {
    has: (id: string) => ids.has(id),
    /** Returns whether the client exists and the secret is correct, in constant time. */
    authenticate(id: string, secret: string): boolean {
      const [givenId, givenSecret] = [digest(id), digest(secret)]
      let matches = 0
      // Compare every pair, even after a match, to keep the time constant.
      for (const pair of pairs)
        matches |=
          Number(timingSafeEqual(pair.id, givenId)) & Number(timingSafeEqual(pair.secret, givenSecret))
      return matches === 1
    },
  }
}
