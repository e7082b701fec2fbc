import type { OutageKind } from './errors.ts'

/** How an API call ended, as far as it says something about the connection. `call` names the kind of call. */
export type CallOutcome =
  | { result: 'ok'; call: string; scope: string }
  | { result: 'unavailable'; kind: OutageKind }
  /** The API answered 403; `scope` is the missing one, or null if unknown. */
  | { result: 'forbidden'; call: string; scope: string | null }

/** Where API calls get their bearer token: a user's connection in the vault, or first-party access. */
export interface TokenSource {
  /** Names the account: at most 16 of its calls are in flight at a time. */
  readonly account: string
  /** A token believed to be valid. */
  accessToken(): Promise<string>
  /** A token to use instead of one that the API answered 401 to; refreshes at most once per rejected token. */
  refresh(rejected: string): Promise<string>
  /** The scopes that were granted, or null when that is not known. */
  grantedScopes(): Promise<readonly string[] | null>
  /** Headers that this credential needs on every call. */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * Waits until one more request is allowed; what it resolves to is called when the request has ended, with the time
   * at which it was sent (`performance.now()`; absent: at once).
   */
  pace?(): Promise<(sentAt?: number) => void>
  /** Called after each call, so that the connection shows how it is. */
  noteCall(outcome: CallOutcome): Promise<void>
}
