import type { Response } from 'express'
import type Provider from 'oidc-provider'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { apiFaults, sendInsufficientScope, sendInvalidToken } from './faults.ts'
import type { Caller, Guard, SandboxPart, SandboxState } from './feature.ts'

/** How many calls a credential may make in a window of this length, which begins with its first call. */
export interface RateLimit {
  limit: number
  windowMs: number
}

/** The business that the caller of this request acts for. */
export const bxcontextOf = (res: Response): string => res.locals.bxcontext

/** Middleware of every API call: the journal, the rate limit, faults, the token and its scope. */
export function createGuard(
  { consents, faults, journal }: SandboxState,
  provider: Provider,
  parts: readonly SandboxPart[],
  { limit: points, windowMs }: RateLimit,
): Guard {
  const limiter = new RateLimiterMemory({ points, duration: windowMs / 1000 })

  async function callerOf(token: string): Promise<Caller | undefined> {
    for (const { authenticate } of parts) {
      const caller = authenticate?.(token)
      if (caller) return caller
    }
    const found = token ? await provider.AccessToken.find(token) : undefined
    const consent = found?.grantId && consents.find(found.grantId)
    if (!found || !consent) return undefined
    const { bxcontext, grantId } = consent
    return { bxcontext, credential: grantId, scopes: found.scope?.split(' ') ?? [] }
  }

  return (scope, endpoint) => [
    async (req, res, next) => {
      journal.record(res, endpoint)
      const [, token = ''] = /^Bearer ([\w.~+/-]+=*)$/i.exec(req.get('authorization') ?? '') ?? []
      const caller = await callerOf(token)
      res.locals.caller = caller
      const used = caller && (await limiter.penalty(caller.credential))
      if (!used || used.consumedPoints <= points) return next()
      res.status(429).set('Retry-After', String(Math.ceil(used.msBeforeNext / 1000)))
      res.json({ error: 'too_many_requests' })
    },
    apiFaults(faults, endpoint, scope),
    (req, res, next) => {
      const caller: Caller | undefined = res.locals.caller
      if (!caller) return sendInvalidToken(res)
      if (caller.scopes && !caller.scopes.includes(scope)) return sendInsufficientScope(res, scope)
      res.locals.bxcontext = caller.bxcontext
      return caller.check ? caller.check(req, res, next) : next()
    },
  ]
}
