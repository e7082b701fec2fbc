import { NotConnectedError } from '../../connect/errors.ts'
import { type Api, type ConnectionRef, platform, type TokenSource, type Vault } from '../../connect/index.ts'
import { texts } from '../texts.ts'

/** A call that shows whether a connection works. */
export interface ConnectionTest {
  /** The scope that the call needs. */
  scope: string
  /** Makes a cheap read. */
  run(api: Api, source: TokenSource): Promise<TestResult>
}

export interface TestResult {
  /** The outcome for the user, as a sentence: `Works: 44 leads found.` */
  summary: string
  /** The call: `GET /leads`. */
  call: string
}

/**
 * Runs the first test whose scope is granted, or else the first test, because a platform may use other names for scopes. Without a
 * test, or if the platform has refused access or this app, refreshes the token. Resolves to the outcome, the call (null: no call,
 * because there is no refresh token), and the time it took, in ms. Throws the errors of the API and of `vault.refresh`.
 */
export async function testConnection(
  { vault, api }: { vault: Vault; api: Api },
  tests: readonly ConnectionTest[],
  ref: ConnectionRef,
): Promise<{ summary: string; call: string | null; ms: number }> {
  const connection = await vault.find(ref)
  if (!connection) throw new NotConnectedError()
  const { scopes } = connection
  const test = tests.find(({ scope }) => scopes === null || scopes.includes(scope)) ?? tests[0]
  const startedAt = performance.now()
  // The platform may accept access or this app again, so request a new token, even during a pause of our own.
  const { view, tokens } = connection
  const isRefused = view.state === 'misconfigured' || (view.state === 'revoked' && tokens !== null)
  const isRenewed = (isRefused || !test) && (await vault.refresh(ref))
  const { worksRenewed, worksUntilExpiry } = texts.notices
  const withoutTest = isRenewed
    ? { summary: worksRenewed, call: `POST ${platform.tokenPath}` }
    : { summary: worksUntilExpiry, call: null }
  const { summary, call } = test ? await test.run(api, vault.tokenSource(ref)) : withoutTest
  return { summary, call, ms: Math.round(performance.now() - startedAt) }
}
