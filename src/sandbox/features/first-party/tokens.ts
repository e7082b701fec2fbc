import { randomBytes } from 'node:crypto'
import type { Sql } from '../../database.ts'

/** Specification 8: a new refresh token deactivates the oldest when there are more than this. */
const MAX_REFRESH_TOKENS = 200

export const SCHEMA = `CREATE TABLE IF NOT EXISTS first_party_tokens (
  number INTEGER PRIMARY KEY, token TEXT UNIQUE NOT NULL, kind TEXT NOT NULL, account TEXT NOT NULL,
  bxcontext TEXT NOT NULL, expires_at INTEGER
) STRICT;`

export type FirstPartyTokens = ReturnType<typeof createFirstPartyTokens>

type Kind = 'access' | 'refresh'

/** The tokens of first-party access (specification 5.2). */
export function createFirstPartyTokens(sql: Sql, accessTokenSeconds: number) {
  const add = (kind: Kind, account: string, bxcontext: string, expiresAt: number | null) => {
    const token = `fp_${randomBytes(24).toString('base64url')}`
    const insert = 'INSERT INTO first_party_tokens VALUES (NULL, ?, ?, ?, ?, ?)'
    sql.run(insert, token, kind, account, bxcontext, expiresAt)
    return token
  }
  const find = (kind: Kind, token: string) => {
    const select = `SELECT account, bxcontext FROM first_party_tokens
      WHERE token = ? AND kind = ? AND (expires_at IS NULL OR expires_at > ?)`
    const [row] = sql.all(select, token, kind, Date.now())
    return row && { account: String(row.account), bxcontext: String(row.bxcontext) }
  }
  const removeAll = (kind: Kind) =>
    Number(sql.run('DELETE FROM first_party_tokens WHERE kind = ?', kind).changes)

  return {
    issue(account: string, bxcontext: string) {
      sql.run("DELETE FROM first_party_tokens WHERE kind = 'access' AND expires_at <= ?", Date.now())
      const accessToken = add('access', account, bxcontext, Date.now() + accessTokenSeconds * 1000)
      const refreshToken = add('refresh', account, bxcontext, null)
      const older = `DELETE FROM first_party_tokens WHERE number IN (
        SELECT number FROM first_party_tokens WHERE kind = 'refresh' AND account = ?
        ORDER BY number DESC LIMIT -1 OFFSET ?)`
      sql.run(older, account, MAX_REFRESH_TOKENS)
      return { accessToken, refreshToken, expiresIn: accessTokenSeconds, isSuccessful: true }
    },
    findAccess: (token: string) => find('access', token),
    findRefresh: (token: string) => find('refresh', token),
    remove: (token: string) => sql.run('DELETE FROM first_party_tokens WHERE token = ?', token),
    expireAccessTokens: () => removeAll('access'),
    /** Deactivates all refresh tokens, as many logins elsewhere would. */
    expireRefreshTokens: () => removeAll('refresh'),
  }
}
