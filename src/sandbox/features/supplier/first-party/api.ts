import express, { type RequestHandler, type Response, Router } from 'express'
import { ACCOUNTS } from '../../../accounts.ts'
import { sendFault } from '../../../faults.ts'
import type { SandboxCore } from '../../../feature.ts'
import { tenantsOf } from '../businesses.ts'
import type { FirstPartyTokens } from './tokens.ts'

/** The API key of every account, and the subscription key: valid in the sandbox only. */
export const API_KEY = 'sandbox-api-key'
export const SUBSCRIPTION_KEY = 'sandbox-subscription-key'

/** Rejects a call without the subscription key (specification 5.2.4), with the gateway's own message. */
export const checkSubscription: RequestHandler = (req, res, next) => {
  if (req.get('ocp-apim-subscription-key') === SUBSCRIPTION_KEY) return next()
  const message = 'Access denied due to missing or invalid subscription key.'
  res.status(401).json({ statusCode: 401, message })
}

function reject(res: Response): void {
  const message = 'The email, API key, tenant or refresh token is not valid.'
  res.status(401).json({ isSuccessful: false, message })
}

/** Reads the body of a request. `account`: the account with this email and a valid API key. */
function readBody(body: unknown) {
  const { email, apiKey, tenantId, refreshToken } = Object(body)
  const account = ACCOUNTS.find((known) => known.email === email && apiKey === API_KEY)
  return { account, tenantId, refreshToken }
}

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
      const { account, tenantId } = readBody(req.body)
      const tenants = account ? tenantsOf(account) : []
      const tenant =
        tenantId === undefined ? tenants[0] : tenants.find((known) => known.tenantId === tenantId)
      if (account && tenant) res.json(tokens.issue(account.id, tenant.bxcontext))
      else reject(res)
    })
    .post('/accounts/auth/refresh-token', ...endpoint('first-party refresh', 'login'), (req, res) => {
      const { account, refreshToken } = readBody(req.body)
      const found = tokens.find('refresh', refreshToken)
      if (!account || found?.account !== account.id) return reject(res)
      tokens.remove(refreshToken)
      res.json(tokens.issue(account.id, found.bxcontext))
    })
    .get('/accounts/tenants', ...endpoint('tenants'), (req, res) => {
      const found = tokens.find('access', req.get('authorization')?.replace(/^Bearer /i, ''))
      const account = ACCOUNTS.find(({ id }) => id === found?.account)
      if (!account) return void res.status(401).json({ error: 'invalid_token' })
      res.json(tenantsOf(account).map(({ tenantId, name }) => ({ tenantId, name })))
    })
}
