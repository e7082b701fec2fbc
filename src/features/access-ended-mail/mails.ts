import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { AppError } from '../../connect/errors.ts'
import { type ConnectionRef, type RetryOptions, retry, sleep, type Vault } from '../../connect/index.ts'
import type { KeyValueStore } from '../../connect/stores.ts'
import { nameOf } from '../../web/feature-api.ts'
import { isAddress, mailAbout } from './mail.ts'
import type { Transport } from './transport.ts'

export interface MailsOptions {
  vault: Pick<Vault, 'onChange' | 'find' | 'refresh'>
  store: KeyValueStore
  /** Resolves to the address of a user, or null. */
  emailOf(userId: string): Promise<string | null>
  transport: Transport
  baseUrl: string
  log: Logger
  /** How long to retry a failed email; an hour by default. */
  retries?: RetryOptions
  /** Waits. Throws the signal's reason when it is aborted. */
  wait?: (ms: number, signal: AbortSignal) => Promise<void>
}

const RETRIES = { timeoutMs: 3_600_000, pauseMs: 5_000, maxPauseMs: 300_000 }
/** The most emails to a user in 24 hours, even if the platform ends more connections. */
const MAX_PER_DAY = 3
const DAY_MS = 24 * 3_600_000
/** Timers may fire this much too early, in ms. */
const MARGIN_MS = 1_000

/**
 * Sends the user of a connection one email when its record ends. Only one process writes the end of a record, and its vault
 * notifies listeners once. So the store only needs to count each user's emails of a day. If the platform refuses access only
 * for a moment, the app sends no email.
 */
export function sendMails(options: MailsOptions): { stop(): Promise<void> } {
  const { vault, transport, baseUrl, log, retries = RETRIES, wait = sleep } = options
  const stopping = new AbortController()
  const unsent = new Set<Promise<void>>()
  const { signal } = stopping
  const ask = (ref: ConnectionRef) => () => vault.refresh(ref, { manual: false })
  vault.onChange((ref, _events, { before, after }) => {
    // Access has certainly ended only after a second refusal. So ask again after the pause in the record, instead of waiting for
    // the user to come back. If the platform does not answer, another pause begins, and this handler runs again.
    const isRefused = after.status === 'active' && after.refusal?.reason === 'invalid_grant'
    if (isRefused && (before.status !== 'active' || after.pausedUntil !== before.pausedUntil))
      void wait(after.pausedUntil - Date.now() + MARGIN_MS, signal)
        .then(() => retry(ask(ref), { ...retries, signal }))
        .catch(() => {})
    if (after.status !== 'ended' || before.status === 'ended') return
    const { consent } = after
    const id = `<${randomUUID()}@${new URL(baseUrl).hostname}>`
    const work = retry(() => send(options, ref, consent, id), { ...retries, signal })
      .catch((error: unknown) => {
        const known = error instanceof AppError ? (error.reason ?? error.code) : Object(error).name
        const reason = signal.aborted ? 'this process is stopping' : known
        log.error({ consent, reason }, 'the mail that access has ended was not sent')
      })
      .finally(() => unsent.delete(work))
    unsent.add(work)
  })
  return {
    /** Waits for emails that are being sent. Emails that wait for a retry, or would start from now on, are only logged. */
    async stop() {
      stopping.abort()
      await Promise.all(unsent)
      transport.close()
    },
  }
}

/** Sends the email, unless the user has reconnected or disconnected in the meantime, or has reached the daily limit. */
async function send(
  { vault, store, emailOf, transport, baseUrl, log }: MailsOptions,
  ref: ConnectionRef,
  consent: number,
  id: string,
): Promise<void> {
  const connection = await vault.find(ref)
  if (connection?.consent !== consent || connection.view.state !== 'revoked') return
  const to = await emailOf(ref.userId)
  if (to === null || !isAddress(to))
    return log.warn({ consent }, 'no email when access ended: the sign-in has no address of this user')
  if (!(await isAmongFirst(store, ref.userId, id)))
    return log.warn({ consent }, `no email when access ended: this user got ${MAX_PER_DAY} within a day`)
  const link = `${baseUrl}/connect?${new URLSearchParams({ bxcontext: ref.bxcontext })}`
  await transport.send({ ...mailAbout({ name: nameOf(connection), at: connection.view.at, link }), to, id })
}

/** Counts an email towards a user's daily limit; retries have the same id, and count once. Resolves to false at the limit. */
async function isAmongFirst(store: KeyValueStore, owner: string, id: string): Promise<boolean> {
  for (let place = 0; place < MAX_PER_DAY; place++) {
    const key = { kind: 'ended-mails', owner, id: String(place) }
    if ((await store.compareAndSet(key, null, id, DAY_MS)) || (await store.get(key)) === id) return true
  }
  return false
}
