/** Where API calls get their bearer token: a user's connection in the vault, or first-party access. */
export interface TokenSource {
  /** A token believed to be valid. */
  accessToken(): Promise<string>
  /** A token to use instead of one that the API answered 401 to; refreshes at most once per rejected token. */
  renew(rejected: string): Promise<string>
  /** The scopes that were granted, or null when that is not known. */
  grantedScopes(): Promise<readonly string[] | null>
  /** Headers that this credential needs on every call. */
  readonly headers?: Readonly<Record<string, string>>
  /** Waits until one more request is allowed; what it resolves to is called when the request has ended. */
  pace?(): Promise<() => void>
  /** Told when a call could not be made because the platform did not answer. */
  unavailable(): Promise<void>
}
