/** What the flow inspector assumes of the platform, as in `connect/platform/contract.ts`. */
import type { Assumption } from '../../connect/index.ts'

/** assumed: how long an authorization code is valid at least, in ms. RFC 6749 section 4.1.2 recommends at most 10 minutes. */
export const CODE_LIFETIME_MS = 60_000
/** How long the sandbox's codes are valid, in ms. */
export const SANDBOX_CODE_LIFETIME_MS = 600_000

export const ASSUMPTIONS: readonly Assumption[] = [
  {
    id: 'code-lifetime',
    topic: 'How long an authorization code is valid',
    assumed: 'At least one minute. Only the countdown of the step-by-step mode depends on it.',
    importance: 3,
    code: 'CODE_LIFETIME_MS',
    cure: 'Change the number.',
    otherwise: 'Pause before the exchange in step-by-step mode, and continue after a minute.',
  },
]
