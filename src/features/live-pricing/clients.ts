import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** A caller of the live pricing API. Several secrets are valid at once while one is replaced by another. */
export interface Client {
  id: string
  secrets: readonly string[]
}

export interface Clients {
  has(id: string): boolean
  /** True for the right secret of a known client; takes as long for a wrong one, and for an unknown client. */
  authenticate(id: string, secret: string): boolean
}

/** Compares digests under a key of this process, so that neither the time nor the length of a secret tells anything. */
export function createClients(clients: readonly Client[]): Clients {
  const key = randomBytes(32)
  const digest = (text: string) => createHmac('sha256', key).update(text).digest()
  const pairs = clients.flatMap(({ id, secrets }) =>
    secrets.map((secret) => ({ id: digest(id), secret: digest(secret) })),
  )
  const known = new Set(clients.map(({ id }) => id))
  return {
    has: (id) => known.has(id),
    authenticate(id, secret) {
      const [givenId, givenSecret] = [digest(id), digest(secret)]
      let right = 0
      // Every pair is compared, whichever fits.
      for (const pair of pairs)
        right |= Number(timingSafeEqual(pair.id, givenId)) & Number(timingSafeEqual(pair.secret, givenSecret))
      return right === 1
    },
  }
}
