import type { RequestHandler, Response } from 'express'
import type Provider from 'oidc-provider'
import type { Database } from './database.ts'
import { apiFaults, type Endpoint, type Faults } from './faults.ts'
import { type FirstPartyTokens, subscribed } from './first-party.ts'
import type { Journal } from './journal.ts'
import { createRateLimiter, type RateLimit } from './rate-limit.ts'

export interface GuardOptions {
  provider: Provider
  database: Database
  firstParty: FirstPartyTokens
  faults: Faults
  journal: Journal
  rateLimit: RateLimit
}

interface Caller {
  /** The business that the token acts for. */
  context: string
  /** Whose calls are counted together. */
  credential: string
  /** The granted scopes; null: all, as first-party access has. */
  scopes: string[] | null
}

/** The business that the caller of this request acts for. */
export const contextOf = (res: Response): string => res.locals.context

/** What stands before every API call: the journal, the rate limit, faults, the token and its scope. */
export function createGuard(options: GuardOptions) {
  const { provider, database, firstParty, faults, journal } = options
  const limiter = createRateLimiter(options.rateLimit)

  async function callerOf(token: string): Promise<Caller | undefined> {
    const own = firstParty.access(token)
    if (own) return { context: own.context, credential: `${own.account} ${own.context}`, scopes: null }
    const found = token ? await provider.AccessToken.find(token) : undefined
    const consent = found?.grantId && database.consents.of(found.grantId)
    if (!found || !consent) return undefined
    return { context: consent.context, credential: consent.grantId, scopes: found.scope?.split(' ') ?? [] }
  }

  return (scope: 'leads' | 'catalogues', endpoint: Endpoint = scope): RequestHandler[] => [
    async (req, res, next) => {
      res.on('close', () => journal.add(endpoint, res.writableFinished ? res.statusCode : 'no answer'))
      const [, token = ''] = /^Bearer ([\w.~+/-]+=*)$/i.exec(req.get('authorization') ?? '') ?? []
      const caller = await callerOf(token)
      res.locals.caller = caller
      const wait = caller ? limiter.wait(caller.credential) : 0
      if (wait === 0) return next()
      res.status(429).set('Retry-After', String(Math.ceil(wait / 1000)))
      res.json({ error: 'too_many_requests' })
    },
    apiFaults(faults, endpoint),
    (req, res, next) => {
      const caller: Caller | undefined = res.locals.caller
      if (!caller) {
        res.set('WWW-Authenticate', 'Bearer error="invalid_token"')
        return void res.status(401).json({ error: 'invalid_token' })
      }
      if (caller.scopes && !caller.scopes.includes(scope)) {
        res.set('WWW-Authenticate', `Bearer error="insufficient_scope", scope="${scope}"`)
        return void res.status(403).json({ error: 'insufficient_scope' })
      }
      res.locals.context = caller.context
      return caller.scopes ? next() : subscribed(req, res, next)
    },
  ]
}
