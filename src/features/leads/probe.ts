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
  if (!probe.write) return probe.notSeen('new-lead', 'Run the doctor with `--consent --write`.')
  const notes = 'Created by npm run doctor. Delete it.'
  const answer = await probe.call(PATHS.leads, { name: 'Test lead of the doctor', notes })
  const place = `POST ${PATHS.leads}`
  if (!answer) return probe.notSeen('new-lead', `${place}: no usable answer. Run the check again.`)
  if (answer.status === 403)
    return probe.notSeen('new-lead', 'The consent does not include the scope `leads`.')
  const isLead = answer.status < 300 && leadSchema.safeParse(answer.json).success
  if (isLead) probe.confirm('new-lead', `${place}: ${answer.status}, with the lead`)
  else probe.differ('new-lead', `${place}: ${answer.status}, without a lead`, false)
}
