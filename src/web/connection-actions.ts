import { NotConnectedError } from '../connect/errors.ts'
import type { ConnectionRef, TokenSource, Vault } from '../connect/index.ts'

/** A call that shows whether a connection works. */
export interface ConnectionTest {
  /** The scope that the call needs. */
  scope: string
  /** Makes one cheap read. Resolves to a sentence with the call and the answer; see `testSummary`. */
  run(source: TokenSource): Promise<string>
}

const REFRESHED = 'A new access token was issued.'
const NO_REFRESH_TOKEN =
  'The platform issued no refresh token for this account. The access token can be used until it expires.'

/** Refreshes the access token. Resolves to a sentence with the outcome; throws the errors of `vault.refresh`. */
export async function refreshConnection(vault: Vault, ref: ConnectionRef): Promise<string> {
  return (await vault.refresh(ref)) ? REFRESHED : NO_REFRESH_TOKEN
}

/**
 * Runs the first test whose scope is granted, or refreshes the access token if there is none. Resolves to the outcome and
 * the time it took, in ms. Throws the errors of the API and of `vault.refresh`.
 */
export async function testConnection(
  vault: Vault,
  tests: readonly ConnectionTest[],
  ref: ConnectionRef,
): Promise<{ summary: string; ms: number }> {
  const connection = await vault.find(ref)
  if (!connection) throw new NotConnectedError()
  const { scopes } = connection
  const test = tests.find(({ scope }) => scopes === null || scopes.includes(scope))
  const startedAt = performance.now()
  // A platform that refused access may grant it again: ask for a new token at once, although refreshing may be paused.
  if (connection.status === 'active' && connection.refusedAt !== null) await vault.refresh(ref)
  const summary = test ? await test.run(vault.tokenSource(ref)) : await refreshConnection(vault, ref)
  return { summary, ms: Math.round(performance.now() - startedAt) }
}

/** The outcome of a test that lists things: "The platform answered GET /leads: 44 leads." */
export function testSummary(call: string, total: number | null, singular: string): string {
  const count = total === null ? '' : `: ${total} ${total === 1 ? singular : `${singular}s`}`
  return `The platform answered ${call}${count}.`
}
