import express, { type RequestHandler, Router } from 'express'
import { ACCOUNTS, tenantsOf } from '../../accounts.ts'
import { sendFault } from '../../faults.ts'
import type { SandboxCore } from '../../feature.ts'
import type { FirstPartyTokens } from './tokens.ts'

/** The API key of every account, and the subscription key: valid in the sandbox only. */
export const API_KEY = 'sandbox-api-key'
export const SUBSCRIPTION_KEY = 'sandbox-subscription-key'

/** Rejects a call without the subscription key (specification 5.2.4), in the gateway's own words. */
export const checkSubscription: RequestHandler = (req, res, next) => {
  if (req.get('ocp-apim-subscription-key') === SUBSCRIPTION_KEY) return next()
  const message = 'Access denied due to missing or invalid subscription key.'
  res.status(401).json({ statusCode: 401, message })
}

const REJECTED = {
  isSuccessful: false,
  message: 'The email, API key, tenant or refresh token is not valid.',
}

const accountOf = ({ email, apiKey }: { email?: unknown; apiKey?: unknown }) =>
  ACCOUNTS.find((account) => account.email === email && apiKey === API_KEY)

/** Login, refresh and tenants (specification 4.2). */
export function firstPartyApi({ faults, journal }: SandboxCore, tokens: FirstPartyTokens): Router {
  const endpoint = (name: string, fault?: string): RequestHandler[] => [
    (_req, res, next) => {
      journal.record(res, name)
      const active = fault && faults.strike(fault)
      return active ? sendFault(res, active) : next()
    },
    checkSubscription,
    express.json({ limit: '10kb' }),
  ]

  return Router()
    .post('/accounts/auth/login', ...endpoint('login', 'login'), (req, res) => {
      const { tenantId } = req.body ?? {}
      const account = accountOf(req.body ?? {})
      const tenant =
        tenantId === undefined
          ? account?.businesses[0]
          : account && tenantsOf(account).find((known) => known.tenantId === tenantId)
      if (!account || !tenant) return void res.status(401).json(REJECTED)
      res.json(tokens.issue(account.id, tenant.bxcontext))
    })
    .post('/accounts/auth/refresh-token', ...endpoint('first-party refresh', 'login'), (req, res) => {
      const { refreshToken } = req.body ?? {}
      const account = accountOf(req.body ?? {})
      const found = typeof refreshToken === 'string' && tokens.findRefresh(refreshToken)
      if (!account || !found || found.account !== account.id) return void res.status(401).json(REJECTED)
      tokens.remove(refreshToken)
      res.json(tokens.issue(found.account, found.bxcontext))
    })
    .get('/accounts/tenants', ...endpoint('tenants'), (req, res) => {
      const [, token = ''] = /^Bearer (\S+)$/i.exec(req.get('authorization') ?? '') ?? []
      const account = ACCOUNTS.find(({ id }) => id === tokens.findAccess(token)?.account)
      if (!account) return void res.status(401).json({ error: 'invalid_token' })
      res.json(tenantsOf(account).map(({ tenantId, name }) => ({ tenantId, name })))
    })
}
