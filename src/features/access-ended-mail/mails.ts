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
  /** By default, an email that fails is tried again for an hour. */
  retries?: RetryOptions
  /** Waits. Throws the signal's reason when it is aborted. */
  wait?: (ms: number, signal: AbortSignal) => Promise<void>
}

const RETRIES = { timeoutMs: 3_600_000, pauseMs: 5_000, maxPauseMs: 300_000 }
/** How many emails a user gets in 24 hours, whatever the platform says about their connections. */
const MAX_PER_DAY = 3
const DAY_MS = 24 * 3_600_000
/** Timers end early by a little, in ms. */
const MARGIN_MS = 1_000

/**
 * Sends one email to the user of each connection whose record ends. Only one process writes the end of a record, and its vault
 * tells its listeners once, so the store has only the emails of a day, to count them. A platform that refuses access for a
 * moment only causes no email.
 */
export function sendMails(options: MailsOptions): { stop(): Promise<void> } {
  const { vault, transport, baseUrl, log, retries = RETRIES, wait = sleep } = options
  const stopping = new AbortController()
  const unsent = new Set<Promise<void>>()
  const { signal } = stopping
  const ask = (ref: ConnectionRef) => () => vault.refresh(ref, { manual: false })
  vault.onChange((ref, _events, { before, after }) => {
    // The tokens are kept for another question, without which the end would be certain only when the user comes back. The record has the
    // pause before it. If the platform does not answer, another pause begins, and so does this again.
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
    /** Waits for the mails that are being sent. Mails that wait for another attempt, or begin from now on, are only logged. */
    async stop() {
      stopping.abort()
      await Promise.all(unsent)
      transport.close()
    },
  }
}

/** Sends the email, unless the connection has been connected again or disconnected in the meantime, or the user has got enough. */
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

/** Takes one of a user's places for the emails of a day, each attempt with the same id. Resolves to false if all are taken. */
async function isAmongFirst(store: KeyValueStore, owner: string, id: string): Promise<boolean> {
  for (let place = 0; place < MAX_PER_DAY; place++) {
    const key = { kind: 'ended-mails', owner, id: String(place) }
    if ((await store.compareAndSet(key, null, id, DAY_MS)) || (await store.get(key)) === id) return true
  }
  return false
}
