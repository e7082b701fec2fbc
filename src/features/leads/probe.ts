import type { Probe } from '../feature.ts'
import { LEADS_SCOPE, leadSchema, PATHS } from './contract.ts'

/** Reads leads, and with `--write` creates one. */
export async function probeLeads(probe: Probe): Promise<void> {
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
  if (!probe.write) return probe.notSeen('new-lead', 'Run the probe with `--write`.')
  const notes = 'Created by npm run probe. Delete it.'
  const answer = await probe.call(PATHS.leads, { name: 'Test lead of the probe', notes })
  const isLead = answer && answer.status < 300 && leadSchema.safeParse(answer.json).success
  if (isLead) probe.confirm('new-lead', `POST ${PATHS.leads}: ${answer.status}, with the lead`)
  else
    probe.differ(
      'new-lead',
      `POST ${PATHS.leads}: ${answer ? `${answer.status}, without a lead` : 'no answer'}`,
      false,
    )
}
