import type { RequestHandler, Response } from 'express'
import type Provider from 'oidc-provider'
import type { Consents } from './consents.ts'
import { apiFaults, type Faults, sendInsufficientScope, sendInvalidToken } from './faults.ts'
import type { Journal } from './journal.ts'
import { createRateLimiter, type RateLimit } from './rate-limit.ts'

export interface GuardOptions {
  provider: Provider
  consents: Consents
  faults: Faults
  journal: Journal
  rateLimit: RateLimit
  /** Recognises tokens that the identity provider did not issue. */
  authenticate(token: string): Caller | undefined
}

/** Who calls the API. */
export interface Caller {
  /** The business that the token acts for. */
  bxcontext: string
  /** The rate limit counts calls for each credential. */
  credential: string
  /** The granted scopes; null: all. */
  scopes: string[] | null
  /** A further check of the request. */
  check?: RequestHandler
}

/** The business that the caller of this request acts for. */
export const bxcontextOf = (res: Response): string => res.locals.bxcontext

export type Guard = ReturnType<typeof createGuard>

/** Middleware of every API call: the journal, the rate limit, faults, the token and its scope. */
export function createGuard(options: GuardOptions) {
  const { provider, consents, faults, journal } = options
  const limiter = createRateLimiter(options.rateLimit)

  async function callerOf(token: string): Promise<Caller | undefined> {
    const caller = options.authenticate(token)
    if (caller) return caller
    const found = token ? await provider.AccessToken.find(token) : undefined
    const consent = found?.grantId && consents.find(found.grantId)
    if (!found || !consent) return undefined
    const { bxcontext, grantId } = consent
    return { bxcontext, credential: grantId, scopes: found.scope?.split(' ') ?? [] }
  }

  /** `endpoint` is its name in the journal and for faults. */
  return (scope: string, endpoint = scope): RequestHandler[] => [
    async (req, res, next) => {
      journal.record(res, endpoint)
      const [, token = ''] = /^Bearer ([\w.~+/-]+=*)$/i.exec(req.get('authorization') ?? '') ?? []
      const caller = await callerOf(token)
      res.locals.caller = caller
      const wait = caller ? limiter.wait(caller.credential) : 0
      if (wait === 0) return next()
      res.status(429).set('Retry-After', String(Math.ceil(wait / 1000)))
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
