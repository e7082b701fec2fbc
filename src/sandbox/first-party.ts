import { randomBytes } from 'node:crypto'
import express, { type RequestHandler, Router } from 'express'
import { ACCOUNTS, API_KEY, SUBSCRIPTION_KEY, tenantsOf } from './accounts.ts'
import type { Sql } from './database.ts'
import { type Faults, fail } from './faults.ts'
import type { Journal } from './journal.ts'

/** Specification 8: more refresh tokens than this deactivate the oldest. */
const ACTIVE_REFRESH_TOKENS = 200

export type FirstPartyTokens = ReturnType<typeof createFirstPartyTokens>

/** The tokens of first-party access (specification 5.2). */
export function createFirstPartyTokens(sql: Sql, accessTokenSeconds: number) {
  const add = (kind: 'access' | 'refresh', account: string, context: string, expiresAt: number | null) => {
    const token = `fp_${randomBytes(24).toString('base64url')}`
    sql.run(
      `INSERT INTO first_party_tokens
         SELECT ?, ?, ?, ?, ?, coalesce(max(number), 0) + 1 FROM first_party_tokens`,
      ...[token, kind, account, context, expiresAt],
    )
    return token
  }
  const find = (kind: 'access' | 'refresh', token: string) => {
    const [row] = sql.all(
      `SELECT account, context FROM first_party_tokens
         WHERE token = ? AND kind = ? AND (expires_at IS NULL OR expires_at > ?)`,
      ...[token, kind, Date.now()],
    )
    return row && { account: String(row.account), context: String(row.context) }
  }
  return {
    issue(account: string, context: string) {
      sql.run("DELETE FROM first_party_tokens WHERE kind = 'access' AND expires_at <= ?", Date.now())
      const accessToken = add('access', account, context, Date.now() + accessTokenSeconds * 1000)
      const refreshToken = add('refresh', account, context, null)
      sql.run(
        `DELETE FROM first_party_tokens WHERE kind = 'refresh' AND account = ? AND number NOT IN (
           SELECT number FROM first_party_tokens WHERE kind = 'refresh' AND account = ?
           ORDER BY number DESC LIMIT ?)`,
        ...[account, account, ACTIVE_REFRESH_TOKENS],
      )
      return { accessToken, refreshToken, expiresIn: accessTokenSeconds, isSuccessful: true }
    },
    access: (token: string) => find('access', token),
    refresh: (token: string) => find('refresh', token),
    end: (token: string) => sql.run('DELETE FROM first_party_tokens WHERE token = ?', token),
    /** Deactivates every refresh token, as many logins elsewhere would. */
    endRefreshTokens: () => Number(sql.run("DELETE FROM first_party_tokens WHERE kind = 'refresh'").changes),
  }
}

/** Refuses a call without the subscription key (specification 5.2.4), in the gateway's own words. */
export const subscribed: RequestHandler = (req, res, next) => {
  if (req.get('ocp-apim-subscription-key') === SUBSCRIPTION_KEY) return next()
  const message = 'Access denied due to missing or invalid subscription key.'
  res.status(401).json({ statusCode: 401, message })
}

export interface FirstPartyOptions {
  tokens: FirstPartyTokens
  faults: Faults
  journal: Journal
}

/** Login, refresh and tenants (specification 4.2). */
export function firstPartyRoutes({ tokens, faults, journal }: FirstPartyOptions): Router {
  const named = (endpoint: 'login' | 'first-party refresh' | 'tenants'): RequestHandler[] => [
    (_req, res, next) => {
      res.on('close', () => journal.add(endpoint, res.writableFinished ? res.statusCode : 'no answer'))
      const fault = endpoint === 'tenants' ? undefined : faults.strike('login')
      if (fault) return fail(res, fault)
      next()
    },
    subscribed,
    express.json({ limit: '10kb' }),
  ]
  const refused = {
    isSuccessful: false,
    message: 'The email, API key, tenant or refresh token is not valid.',
  }

  return Router()
    .post('/accounts/auth/login', ...named('login'), (req, res) => {
      const { email, apiKey, tenantId } = req.body ?? {}
      const account = ACCOUNTS.find((known) => known.email === email && apiKey === API_KEY)
      const tenant =
        account &&
        (tenantId === undefined
          ? account.businesses[0]
          : tenantsOf(account).find((known) => known.tenantId === tenantId))
      if (!account || !tenant) return void res.status(401).json(refused)
      res.json(tokens.issue(account.id, tenant.context))
    })
    .post('/accounts/auth/refresh-token', ...named('first-party refresh'), (req, res) => {
      const { email, apiKey, refreshToken } = req.body ?? {}
      const account = ACCOUNTS.find((known) => known.email === email && apiKey === API_KEY)
      const found = typeof refreshToken === 'string' && tokens.refresh(refreshToken)
      if (!account || !found || found.account !== account.id) return void res.status(401).json(refused)
      tokens.end(refreshToken)
      res.json(tokens.issue(found.account, found.context))
    })
    .get('/accounts/tenants', ...named('tenants'), (req, res) => {
      const [, token = ''] = /^Bearer (\S+)$/i.exec(req.get('authorization') ?? '') ?? []
      const account = ACCOUNTS.find(({ id }) => id === tokens.access(token)?.account)
      if (!account) return void res.status(401).json({ error: 'invalid_token' })
      res.json(tenantsOf(account).map(({ tenantId, name }) => ({ tenantId, name })))
    })
}
