import type { Adapter, AdapterPayload } from 'oidc-provider'
import type { Sql } from './database.ts'

const seconds = () => Math.floor(Date.now() / 1000)

/** The storage for oidc-provider's models. */
export function createOidcAdapter(sql: Sql): (model: string) => Adapter {
  sql.run('DELETE FROM models WHERE expires_at <= ?', seconds())
  return (model) => {
    const find = async (column: 'id' | 'uid', value: string): Promise<AdapterPayload | undefined> => {
      const [row] = sql.all(
        `SELECT payload FROM models WHERE model = ? AND ${column} = ? AND (expires_at IS NULL OR expires_at > ?)`,
        model,
        value,
        seconds(),
      )
      return row && JSON.parse(String(row.payload))
    }
    return {
      async upsert(id, payload, expiresIn) {
        const { grantId = null, uid = null } = payload
        const expiresAt = expiresIn ? seconds() + expiresIn : null
        const values = [model, id, JSON.stringify(payload), grantId, uid, expiresAt]
        sql.run('INSERT OR REPLACE INTO models VALUES (?, ?, ?, ?, ?, ?)', ...values)
      },
      find: (id) => find('id', id),
      findByUid: (uid) => find('uid', uid),
      findByUserCode: async () => undefined,
      async consume(id) {
        const update = `UPDATE models SET payload = json_set(payload, '$.consumed', ?) WHERE model = ? AND id = ?`
        sql.run(update, seconds(), model, id)
      },
      async destroy(id) {
        sql.run('DELETE FROM models WHERE model = ? AND id = ?', model, id)
      },
      async revokeByGrantId(grantId) {
        sql.run('DELETE FROM models WHERE model = ? AND grant_id = ?', model, grantId)
      },
    }
  }
}
