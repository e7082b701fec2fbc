import type { Sql } from './database.ts'

/** A user's consent, which appears under Connected apps and binds tokens to a business. */
export interface Consent {
  grantId: string
  account: string
  client: string
  bxcontext: string
  scopes: string[]
  /** ms since 1970. */
  grantedAt: number
}

export type Consents = ReturnType<typeof createConsents>

export function createConsents(sql: Sql) {
  return {
    add(consent: Consent) {
      const { grantId, account, client, bxcontext, scopes, grantedAt } = consent
      const values = [grantId, account, client, bxcontext, JSON.stringify(scopes), grantedAt]
      sql.run('INSERT INTO consents VALUES (?, ?, ?, ?, ?, ?)', ...values)
    },
    find: (grantId: string): Consent | undefined =>
      sql.all('SELECT * FROM consents WHERE grant_id = ?', grantId).map(read)[0],
    /** Lists the consents of an account or of all accounts, newest first. */
    list: (account?: string): Consent[] =>
      sql
        .all("SELECT * FROM consents WHERE ? IN (account, '*') ORDER BY granted_at DESC", account ?? '*')
        .map(read),
    /** Revokes a grant: deletes its consent, codes and tokens. */
    revoke(grantId: string) {
      sql.run('DELETE FROM consents WHERE grant_id = ?', grantId)
      sql.run("DELETE FROM models WHERE grant_id = ? OR (model = 'Grant' AND id = ?)", grantId, grantId)
    },
    /** Expires the access tokens of a business or of all businesses, and returns their number. Refresh tokens stay valid. */
    expireAccessTokens(bxcontext?: string): number {
      const expire = "DELETE FROM models WHERE model = 'AccessToken'"
      const ofBusiness = `${expire} AND grant_id IN (SELECT grant_id FROM consents WHERE bxcontext = ?)`
      const { changes } = bxcontext === undefined ? sql.run(expire) : sql.run(ofBusiness, bxcontext)
      return Number(changes)
    },
  }
}

const read = (row: Record<string, unknown>): Consent => ({
  grantId: String(row.grant_id),
  account: String(row.account),
  client: String(row.client),
  bxcontext: String(row.bxcontext),
  scopes: JSON.parse(String(row.scopes)),
  grantedAt: Number(row.granted_at),
})
