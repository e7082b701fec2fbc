import type { Probe } from '../../../features/tools.ts'
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
  // template: write
  const id = 'spare-parts-create'
  if (!probe.write) return probe.notSeen(id, 'Run the probe with `--write`.')
  const notes = 'Created by the probe. Delete it.'
  const answer = await probe.call(PATHS.list, { name: 'Test of the probe', notes })
  const place = `POST ${PATHS.list}`
  if (!answer) return probe.notSeen(id, `${place}: no usable answer. Run the probe again.`)
  if (answer.status === 403) return probe.notSeen(id, `The consent does not include the scope \`${SCOPE}\`.`)
  const isEntry = answer.status < 300 && entrySchema.safeParse(answer.json).success
  if (isEntry) probe.confirm(id, `${place}: ${answer.status}, with its fields`)
  else probe.differ(id, `${place}: ${answer.status}, without its fields`, false)
  // end of template
}
