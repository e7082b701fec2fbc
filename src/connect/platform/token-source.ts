import type { OutageKind } from './errors.ts'

/** How an API call ended, as far as it affects the connection. `call` names the call, for example `GET leads`. */
export type CallOutcome =
  /** `scope`: the scope of the call, if the API carried it out; null if the API refused the request itself. */
  | { result: 'ok'; call: string; scope: string | null }
  | { result: 'unavailable'; kind: Exclude<OutageKind, 'paused'> }
  /** The API answered 403. `scopes`: the missing scopes, empty if they are not known. */
  | { result: 'forbidden'; call: string; scopes: readonly string[] }

/** Where API calls get their bearer token: from a user's connection in the vault, or from a program's own login. */
export interface TokenSource {
  /** The connection of the tokens; absent for a program's own login. */
  readonly connection?: { userId: string; bxcontext: string }
  /** Resolves to a token that should be valid. */
  accessToken(): Promise<string>
  /** Resolves to a new token for `rejectedToken`, which the API rejected. Refreshes at most once for each rejected token. */
  refresh(rejectedToken: string): Promise<string>
  /** The granted scopes, or null if they are not known. */
  grantedScopes(): Promise<readonly string[] | null>
  /** Headers that this credential needs on every call. */
  readonly headers?: Readonly<Record<string, string>>
  /** Called after each API call with a token of this source, so that the connection's page shows whether the connection works. */
  noteCall(outcome: CallOutcome): Promise<void>
}
