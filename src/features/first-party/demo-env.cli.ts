import { localUrl } from '../../settings/fields.ts'
import { type Environment, givenOf } from '../../settings/read.ts'

const TIMEOUT_MS = 3_000

/** The address of the demo's sandbox on this machine, from the variables that `npm run demo` reads as well. */
function sandboxUrl(env: Environment): string {
  const given = givenOf(env)
  return localUrl(given, given.SANDBOX_PORT ?? 4400)
}

/** The environment of a command with `--demo`: the demo's sandbox, with its well-known API key of a supplier. */
export const demoEnv = (env: Environment): Environment => ({
  ...env,
  PLATFORM_API_URL: `${sandboxUrl(env)}/api`,
  PLATFORM_API_EMAIL: 'priya@summit.example',
  PLATFORM_API_KEY: 'sandbox-api-key',
  PLATFORM_SUBSCRIPTION_KEY: 'sandbox-subscription-key',
  PLATFORM_TENANT_ID: undefined,
})

/** Throws an error that says what to do if the demo's sandbox does not answer. */
export async function requireSandbox(env: Environment): Promise<void> {
  const url = sandboxUrl(env)
  const headers = { accept: 'application/json' }
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const answer = await fetch(`${url}/sandbox/faults`, { headers, signal }).catch(() => null)
  await answer?.body?.cancel()
  if (!answer?.ok)
    throw new Error(
      `No sandbox answers at ${url}. Start it with npm run demo. If it uses another port, set SANDBOX_PORT here too.`,
    )
}
