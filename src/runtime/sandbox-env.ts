import type { Environment } from '../settings/read.ts'

/** The variables with which an app uses the sandbox at `url`. The sandbox itself is not imported: production has none. */
export function sandboxEnv(url: string) {
  return {
    PLATFORM_APP_URL: url,
    PLATFORM_AUTH_URL: `${url}/auth`,
    PLATFORM_API_URL: `${url}/api`,
    SANDBOX_URL: url,
  }
}

/**
 * Outside production, an app that has `SANDBOX_PORT` and none of the platform's addresses uses the sandbox there. Returns
 * the variables to add.
 */
export function missingSandboxEnv(env: Environment): Partial<ReturnType<typeof sandboxEnv>> {
  const { SANDBOX_PORT, SANDBOX_URL, NODE_ENV, ...rest } = env
  const hasAddress = [rest.PLATFORM_APP_URL, rest.PLATFORM_AUTH_URL, rest.PLATFORM_API_URL].some((url) =>
    url?.trim(),
  )
  if (!SANDBOX_PORT?.trim() || hasAddress || NODE_ENV?.trim() === 'production') return {}
  return sandboxEnv(SANDBOX_URL?.trim().replace(/\/+$/, '') || `http://localhost:${SANDBOX_PORT.trim()}`)
}
