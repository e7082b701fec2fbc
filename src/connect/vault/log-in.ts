import { setTimeout as pause } from 'node:timers/promises'
import { AppError } from '../app-error.ts'
import { ConfigurationError, PlatformUnavailableError } from '../platform/errors.ts'
import type { Tokens } from '../platform/token-answer.ts'
import type { VaultDependencies } from './access-token.ts'
import { connect } from './connect.ts'
import type { ConnectionRef } from './connection.ts'
import { DecryptionError } from './encryption.ts'
import { backoffError, isHandle } from './refresh.ts'
import type { LockHandle } from './refresh-lock.ts'

/** How often to check whether another process has logged in, in ms. */
const POLL_MS = 50
/** How long to wait for another process to log in, in ms. */
const WAIT_MS = 20_000

/** `Vault.logIn`. */
export async function logIn(
  deps: VaultDependencies,
  ref: ConnectionRef,
  getTokens: () => Promise<Tokens>,
): Promise<void> {
  for (const deadline = performance.now() + WAIT_MS; ; ) {
    const acquired = await deps.lock.acquire(ref)
    if (isHandle(acquired)) return logInLocked(deps, ref, getTokens, acquired)
    if (acquired !== 'busy') throw backoffError(acquired, false)
    if (performance.now() > deadline)
      throw new PlatformUnavailableError('no_answer', 'another process is still logging in')
    await pause(POLL_MS)
  }
}

async function logInLocked(
  deps: VaultDependencies,
  ref: ConnectionRef,
  getTokens: () => Promise<Tokens>,
  handle: LockHandle,
): Promise<void> {
  try {
    const stored = await deps.connections.read(ref).catch((error: unknown) => {
      if (error instanceof DecryptionError) return null
      throw error
    })
    // Another process has already logged in.
    if (stored?.connection.status === 'active') return
    const sentAt = deps.now()
    await connect(deps, ref, await getTokens(), sentAt)
  } catch (error) {
    const mustBackOff = error instanceof AppError && error.status >= 500
    if (mustBackOff)
      await handle
        .releaseWithBackoff(
          error instanceof ConfigurationError ? 'misconfigured' : 'unavailable',
          error.retryAfterMs,
        )
        .catch(() => {})
    throw error
  } finally {
    // Does nothing after `releaseWithBackoff`, which has released the lock. One that cannot be released expires.
    await handle.release().catch(() => {})
  }
}
