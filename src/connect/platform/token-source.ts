import type { OutageKind } from './errors.ts'

/** How an API call ended, as far as it affects the connection. `call` names the call, for example `GET leads`. */
export type CallOutcome =
  | { result: 'ok'; call: string; scope: string }
  | { result: 'unavailable'; kind: OutageKind }
  /** The API answered 403; `scope` is the missing one, or null if unknown. */
  | { result: 'forbidden'; call: string; scope: string | null }

/**
 * Call it when the request has been answered or has failed. `sentAt`: when the request was sent (`performance.now()`),
 * which defaults to when the permit was acquired; null if no request was sent, which frees the permit at once.
 */
export type ReleasePermit = (sentAt?: number | null) => void

/** Where API calls get their bearer token: a user's connection in the vault, or first-party access. */
export interface TokenSource {
  /** Identifies the connection: at most 16 of its calls are in flight at a time. */
  readonly account: string
  /** The connection, if it is one. */
  readonly connection?: { userId: string; bxcontext: string }
  /** Resolves to a token that is believed to be valid. */
  accessToken(): Promise<string>
  /** Resolves to a token to use instead of one that the API answered 401 to. Refreshes at most once per rejected token. */
  refresh(rejectedToken: string): Promise<string>
  /** The granted scopes, or null if they are not known. */
  grantedScopes(): Promise<readonly string[] | null>
  /** Headers that this credential needs on every call. */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * Waits until one more request is allowed. The permit is acquired before the token, which could expire in the meantime.
   */
  acquirePermit?(): Promise<ReleasePermit>
  /** Called after each call, so that the connection's page shows whether it works. */
  noteCall(outcome: CallOutcome): Promise<void>
}

/** What a request needs: a token, and a permit if its credential has a rate limit. */
export interface CallCredential {
  token: string
  /** Used by the first request. */
  permit?: ReleasePermit | undefined
}

/** Waits for a permit first: a token could expire in the meantime. */
export async function acquireCredential(
  source: TokenSource,
  tokenOf: () => Promise<string>,
): Promise<CallCredential> {
  if (!source.acquirePermit) return { token: await tokenOf() }
  const permit = await source.acquirePermit()
  try {
    return { token: await tokenOf(), permit }
  } catch (error) {
    permit(null)
    throw error
  }
}
