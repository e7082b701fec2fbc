import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { AppError } from '../../connect/errors.ts'
import { type ConnectionRef, type RetryOptions, retry, type Vault } from '../../connect/index.ts'
import { nameOf, webTexts } from '../../web/kit.ts'
import { isAddress, mailAbout } from './mail.ts'
import type { Transport } from './transport.ts'

export interface MailsOptions {
  vault: Pick<Vault, 'onChange' | 'find'>
  /** Resolves to the address of a user, or null. */
  emailOf(userId: string): Promise<string | null>
  transport: Transport
  /** The address that mails come from. */
  from: string
  /** The app's public origin. */
  baseUrl: string
  log: Logger
  /** By default, a mail that fails is sent again for an hour. */
  retries?: RetryOptions
}

const RETRIES = { timeoutMs: 3_600_000, pauseMs: 5_000, maxPauseMs: 300_000 }

/**
 * Sends one mail to the user of each connection whose record ends. That is one write among all processes, and the vault of the
 * process that made it calls its listeners once: so nothing is stored about mails.
 */
export function sendMails(options: MailsOptions): { stop(): Promise<void> } {
  const { vault, transport, log, retries = RETRIES } = options
  const stopping = new AbortController()
  const unsent = new Set<Promise<void>>()
  const stopListening = vault.onChange((ref, _events, { before, after }) => {
    if (after.status !== 'ended' || before.status === 'ended') return
    const { consent } = after
    const messageId = `<${randomUUID()}@${options.from.split('@').at(-1)}>`
    const work = retry(() => send(options, ref, consent, messageId), { ...retries, signal: stopping.signal })
      .catch((error: unknown) => {
        const reason = stopping.signal.aborted ? 'this process has stopped' : reasonFor(error)
        log.error({ consent, reason }, 'the mail that access has ended was not sent')
      })
      .finally(() => unsent.delete(work))
    unsent.add(work)
  })
  return {
    /** Waits for the mails that are being sent, and gives up those that wait for another attempt. */
    async stop() {
      stopListening()
      stopping.abort()
      await Promise.all(unsent)
      transport.close()
    },
  }
}

const reasonFor = (error: unknown) =>
  error instanceof AppError ? (error.reason ?? error.code) : error instanceof Error ? error.name : 'unknown'

/** Sends the mail, unless the connection has been connected again or disconnected meanwhile. */
async function send(
  { vault, emailOf, transport, from, baseUrl, log }: MailsOptions,
  ref: ConnectionRef,
  consent: number,
  messageId: string,
): Promise<void> {
  const connection = await vault.find(ref)
  if (connection?.consent !== consent || connection.view.state !== 'revoked') return
  const to = await emailOf(ref.userId)
  if (to === null || !isAddress(to))
    return log.warn({ consent }, 'no mail that access has ended: the sign-in has no address of this user')
  const link = `${baseUrl}/connect?${new URLSearchParams({ bxcontext: ref.bxcontext })}`
  const mail = mailAbout({ name: nameOf(connection), at: connection.view.at, link })
  await transport.send({ ...mail, from: { name: webTexts.layout.appName, address: from }, to, messageId })
}
