import type { Sql } from '../../database.ts'

/** The builders who may see a Managed catalogue, and those that a supplier has pre-approved. */
export function createAccessControls(sql: Sql) {
  const exists = (where: string, ...values: string[]) =>
    sql.all(`SELECT 1 FROM access_controls WHERE ${where}`, ...values).length > 0
  return {
    grant(catalogue: string, supplier: string, externalRef: string, isPreApproved: boolean): void {
      const values = [catalogue, supplier, externalRef, isPreApproved ? 1 : 0]
      sql.run('INSERT OR REPLACE INTO access_controls VALUES (?, ?, ?, ?)', ...values)
    },
    has: (catalogue: string, externalRef: string) =>
      exists('catalogue = ? AND external_ref = ?', catalogue, externalRef),
    isPreApproved: (supplier: string, externalRef: string) =>
      exists('supplier = ? AND external_ref = ? AND pre_approved = 1', supplier, externalRef),
  }
}
