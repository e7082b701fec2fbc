import { NotConnectedError } from '../connect/errors.ts'
import type { ConnectionRef, TokenSource, Vault } from '../connect/index.ts'
import { format } from './format.ts'

/** A call that shows whether a connection works. */
export interface ConnectionTest {
  /** The scope that the call needs. */
  scope: string
  /** Makes one cheap read. */
  run(source: TokenSource): Promise<TestResult>
}

export interface TestResult {
  /** What was found, for the user: `44 leads found`. */
  found: string
  /** The call: `GET /leads`. */
  call: string
}

const REFRESHED = 'A new access token was issued.'
const NO_REFRESH_TOKEN =
  'The platform issued no refresh token for this account. The access token can be used until it expires.'

/** Refreshes the access token. Resolves to a sentence with the outcome; throws the errors of `vault.refresh`. */
export async function refreshConnection(vault: Vault, ref: ConnectionRef): Promise<string> {
  return (await vault.refresh(ref)) ? REFRESHED : NO_REFRESH_TOKEN
}

/**
 * Runs the first test whose scope is granted, or refreshes the access token if there is none. Resolves to the outcome,
 * what was called, and the time it took, in ms. Throws the errors of the API and of `vault.refresh`.
 */
export async function testConnection(
  vault: Vault,
  tests: readonly ConnectionTest[],
  ref: ConnectionRef,
): Promise<{ summary: string; call: string; ms: number }> {
  const connection = await vault.find(ref)
  if (!connection) throw new NotConnectedError()
  const { scopes } = connection
  const test = tests.find(({ scope }) => scopes === null || scopes.includes(scope))
  const startedAt = performance.now()
  // A platform that refused access may grant it again: ask for a new token at once, although refreshing may be paused.
  if (connection.status === 'active' && connection.refusedAt !== null) await vault.refresh(ref)
  const { found, call } = test ? await test.run(vault.tokenSource(ref)) : await testByRefresh(vault, ref)
  return { summary: `Works: ${found}.`, call, ms: Math.round(performance.now() - startedAt) }
}

async function testByRefresh(vault: Vault, ref: ConnectionRef): Promise<TestResult> {
  const renewed = await vault.refresh(ref)
  return { found: renewed ? 'access was renewed' : 'access has not expired', call: 'POST /oauth/token' }
}

/** The result of a test that lists things. `total`: null if the platform does not report it. */
export function listResult(call: string, total: number | null, singular: string): TestResult {
  const found = total === null ? `${singular}s can be read` : `${format.pluralize(total, singular)} found`
  return { found, call }
}
