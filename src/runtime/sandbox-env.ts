import { addressesOf } from '../sandbox/platform.ts'
import type { Environment } from '../settings/read.ts'

/** The variables with which an app uses the sandbox at `url`. */
export function sandboxEnv(url: string) {
  const { appUrl, authUrl, apiUrl } = addressesOf(url)
  return {
    PLATFORM_APP_URL: appUrl,
    PLATFORM_AUTH_URL: authUrl,
    PLATFORM_API_URL: apiUrl,
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
