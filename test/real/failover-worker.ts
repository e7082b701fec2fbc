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

const OPERATIONS: Acknowledged['what'][] = ['consent', 'disconnect', 'sign-out']

/** How many accounts it can disconnect and users it can sign out. After those, it only connects accounts. */
const COUNT = 150
/** The pause between two operations, in ms. */
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

for (let number = 0; number < COUNT; number++) {
  const id = `${NAME}-${number}`
  await retry(() =>
    Promise.all([connect(`disconnect-${id}`), store.set(session(`sign-out-${id}`), '{}', 3_600_000)]),
  )
}

process.once('message', async () => {
  for (let number = 0; ; number++)
    for (const what of number < COUNT ? OPERATIONS : OPERATIONS.slice(0, 1)) {
      const id = `${what}-${NAME}-${number}`
      // The user also sees that a failed attempt failed.
      void DO[what](id).then(
        (isDone) => isDone && process.send?.({ what, id, user: NAME, at: Date.now() } satisfies Acknowledged),
        () => {},
      )
      await pause(PACE_MS)
    }
})
process.send?.('ready')
