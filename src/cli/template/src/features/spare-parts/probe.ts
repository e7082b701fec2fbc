import type { Probe } from '../../../../../web/kit.ts'
import { entrySchema, PATHS, SCOPE } from './contract.ts'

/** Compares the spare parts of the platform with the contract. */
export default async function probeEntries(probe: Probe): Promise<void> {
  await probe.checkRecords({
    scope: SCOPE,
    path: PATHS.list,
    record: PATHS.entry,
    idField: 'id',
    schema: entrySchema,
    operations: 'spare-parts-operations',
    fields: 'spare-parts-fields',
    paged: true,
  })
}
