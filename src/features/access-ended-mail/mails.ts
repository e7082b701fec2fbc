import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { AppError } from '../../connect/errors.ts'
import { type ConnectionRef, type RetryOptions, retry, type Vault } from '../../connect/index.ts'
import { nameOf } from '../../web/kit.ts'
import { isAddress, mailAbout } from './mail.ts'
import type { Transport } from './transport.ts'

export interface MailsOptions {
  vault: Pick<Vault, 'onChange' | 'find'>
  /** Resolves to the address of a user, or null. */
  emailOf(userId: string): Promise<string | null>
  transport: Transport
  baseUrl: string
  log: Logger
  /** By default, a mail that fails is tried again for an hour. */
  retries?: RetryOptions
}

const RETRIES = { timeoutMs: 3_600_000, pauseMs: 5_000, maxPauseMs: 300_000 }

/**
 * Sends one mail to the user of each connection whose record ends. Only one process writes the end of a record, and its vault
 * tells its listeners once, so nothing is stored about mails.
 */
export function sendMails(options: MailsOptions): { stop(): Promise<void> } {
  const { vault, transport, baseUrl, log, retries = RETRIES } = options
  const stopping = new AbortController()
  const unsent = new Set<Promise<void>>()
  vault.onChange((ref, _events, { before, after }) => {
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

/** Sends the mail, unless the connection has been connected again or disconnected meanwhile. */
async function send(
  { vault, emailOf, transport, baseUrl, log }: MailsOptions,
  ref: ConnectionRef,
  consent: number,
  id: string,
): Promise<void> {
  const connection = await vault.find(ref)
  if (connection?.consent !== consent || connection.view.state !== 'revoked') return
  const to = await emailOf(ref.userId)
  if (to === null || !isAddress(to))
    return log.warn({ consent }, 'no mail when access ended: the sign-in has no address of this user')
  const link = `${baseUrl}/connect?${new URLSearchParams({ bxcontext: ref.bxcontext })}`
  await transport.send({ ...mailAbout({ name: nameOf(connection), at: connection.view.at, link }), to, id })
}
