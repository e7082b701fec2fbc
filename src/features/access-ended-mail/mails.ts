import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import * as z from 'zod'
import { AppError } from '../../connect/errors.ts'
import {
  type ConnectionRef,
  parseJson,
  type RetryOptions,
  retry,
  sleep,
  type Vault,
} from '../../connect/index.ts'
import { type KeyValueStore, update } from '../../connect/stores.ts'
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
  /** A clock, in ms since 1970. */
  now?: () => number
  /** When the platform is asked again whether access has ended, in ms; by default, as soon as the vault allows it. */
  askAgainMs?: number
}

const ASK_AGAIN_MS = 61_000
const RETRIES = { timeoutMs: 3_600_000, pauseMs: 5_000, maxPauseMs: 300_000 }
/** How many emails a user gets in 24 hours, whatever the platform says about their connections. */
const MAX_PER_DAY = 3
const DAY_MS = 24 * 3_600_000

/**
 * Sends one email to the user of each connection whose record ends. Only one process writes the end of a record, and its vault
 * tells its listeners once, so the store has only the emails of a day, to count them. A platform that refuses access for a
 * moment only causes no email.
 */
export function sendMails(options: MailsOptions): { stop(): Promise<void> } {
  const { vault, transport, baseUrl, log, retries = RETRIES, askAgainMs = ASK_AGAIN_MS } = options
  const stopping = new AbortController()
  const unsent = new Set<Promise<void>>()
  vault.onChange((ref, events, { before, after }) => {
    // Its tokens are kept for a second question. Without this one, the end would be certain only when the user comes back.
    if (after.status === 'active' && events.some(({ type }) => type === 'revoked'))
      void sleep(askAgainMs, stopping.signal)
        .then(() => vault.refresh(ref, { manual: false }))
        .catch(() => {})
    if (after.status !== 'ended' || before.status === 'ended') return
    const { consent } = after
    const id = `<${randomUUID()}@${new URL(baseUrl).hostname}>`
    const work = retry(() => send(options, ref, consent, id), { ...retries, signal: stopping.signal })
      .catch((error: unknown) => {
        const known = error instanceof AppError ? (error.reason ?? error.code) : Object(error).name
        const reason = stopping.signal.aborted ? 'this process is stopping' : known
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
  { vault, store, emailOf, transport, baseUrl, log, now = Date.now }: MailsOptions,
  ref: ConnectionRef,
  consent: number,
  id: string,
): Promise<void> {
  const connection = await vault.find(ref)
  if (connection?.consent !== consent || connection.view.state !== 'revoked') return
  const to = await emailOf(ref.userId)
  if (to === null || !isAddress(to))
    return log.warn({ consent }, 'no email when access ended: the sign-in has no address of this user')
  if (!(await isAmongFirst(store, ref.userId, id, now())))
    return log.warn({ consent }, `no email when access ended: this user got ${MAX_PER_DAY} within a day`)
  const link = `${baseUrl}/connect?${new URLSearchParams({ bxcontext: ref.bxcontext })}`
  await transport.send({ ...mailAbout({ name: nameOf(connection), at: connection.view.at, link }), to, id })
}

const sentSchema = z.array(z.object({ id: z.string(), at: z.number() }))

/** Counts an email, each attempt of which has the same id. Resolves to false if the user has got enough within a day. */
async function isAmongFirst(store: KeyValueStore, userId: string, id: string, at: number): Promise<boolean> {
  const key = { kind: 'ended-mails', owner: userId, id: '' }
  const counted = await update(
    store,
    key,
    (value) => {
      const sent = sentSchema.safeParse(parseJson(value ?? '[]')).data ?? []
      const ofDay = sent.filter((one) => Math.abs(at - one.at) < DAY_MS)
      if (ofDay.length >= MAX_PER_DAY || ofDay.some((one) => one.id === id)) return value
      return JSON.stringify([...ofDay, { id, at }])
    },
    DAY_MS,
  )
  return sentSchema.parse(parseJson(counted ?? '[]')).some((one) => one.id === id)
}
