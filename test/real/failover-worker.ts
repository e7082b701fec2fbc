/**
 * A process of the app that connects accounts, disconnects accounts and signs users out. It reports each acknowledged operation.
 * Before it reports that it is ready, it connects the accounts that it will disconnect, and signs in the users that it will sign
 * out.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { platform, retry, Vault } from '../../src/connect/index.ts'
import { openRedis } from '../../src/connect/stores.ts'
import { ready } from '../support/redis.ts'
import { consent, oauthFor } from '../support/vault.ts'

export interface Acknowledged {
  what: 'consent' | 'disconnect' | 'sign-out'
  id: string
  user: string
  /** In ms since 1970. */
  at: number
}

/** How many of each kind there are at most, and the pause between two of them, in ms. */
const COUNT = 400
const PACE_MS = 50

const { STORE = '', KEY = '', NAME = '' } = process.env
const store = await openRedis({ urls: STORE.split(',') })
const keys = [{ id: 'k1', secret: Buffer.from(KEY, 'base64') }]
const vault = new Vault({ platform, store, oauth: oauthFor('http://127.0.0.1:9'), keys })
await ready(store)

const connect = (bxcontext: string) => consent(vault, {}, { userId: NAME, bxcontext })
const session = (owner: string) => ({ kind: 'session', owner, id: '' })
const DO = {
  consent: async (id: string) => (await connect(id)) === 'connected',
  disconnect: async (id: string) => {
    await vault.disconnect({ userId: NAME, bxcontext: id })
    return true
  },
  'sign-out': (id: string) => store.delete(session(id)),
}

const ids = Array.from({ length: COUNT }, (_, number) => `${NAME}-${number}`)
for (const id of ids)
  await retry(() =>
    Promise.all([connect(`disconnect-${id}`), store.set(session(`sign-out-${id}`), '{}', 3_600_000)]),
  )

process.once('message', async () => {
  for (const number of ids)
    for (const what of ['consent', 'disconnect', 'sign-out'] as const) {
      const id = `${what}-${number}`
      // The user also sees that a failed attempt failed.
      void DO[what](id).then(
        (isDone) => isDone && process.send?.({ what, id, user: NAME, at: Date.now() } satisfies Acknowledged),
        () => {},
      )
      await pause(PACE_MS)
    }
})
process.send?.('ready')
