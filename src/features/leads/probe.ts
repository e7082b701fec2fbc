import type { Probe } from '../../web/kit.ts'
import { LEADS_SCOPE, leadSchema, PATHS } from './contract.ts'

/** Reads leads, and with `--write` creates one. */
export default async function probeLeads(probe: Probe): Promise<void> {
  await probe.checkRecords({
    scope: LEADS_SCOPE,
    path: PATHS.leads,
    record: PATHS.lead,
    idField: 'id',
    schema: leadSchema,
    operations: 'leads-operations',
    fields: 'lead',
    paged: true,
  })
  await probe.checkCreation({
    id: 'new-lead',
    scope: LEADS_SCOPE,
    path: PATHS.leads,
    body: { name: 'Test lead of the doctor', notes: 'Created by npm run doctor. Delete it.' },
    schema: leadSchema,
  })
}
