import type { Probe } from '../../web/kit.ts'
import {
  type AccessControl,
  CATALOGUES_SCOPE,
  catalogueSchema,
  type NewCatalogue,
  PATHS,
} from './contract.ts'

/** The name of the catalogues that probes create. */
const TEST_CATALOGUE = 'Test catalogue of the doctor'

/** Reads catalogues, and with `--write` creates one that only granted builders see. */
export default async function probeCatalogues(probe: Probe): Promise<void> {
  await probe.checkRecords({
    scope: CATALOGUES_SCOPE,
    path: PATHS.catalogues,
    record: PATHS.catalogue,
    idField: 'id',
    schema: catalogueSchema,
    operations: 'catalogues-operations',
    fields: 'catalogue',
    paged: true,
  })
  if (!probe.write) {
    for (const id of ['new-catalogue', 'access-control'])
      probe.notSeen(id, 'Run the doctor with `--consent --write`.')
    return
  }
  const id = await createTestCatalogue(probe)
  if (!id) return probe.notSeen('access-control', 'No catalogue could be created.')
  const control: AccessControl = { externalRef: 'PROBE1', isPreApproved: false }
  const answer = await probe.call(PATHS.accessControls(id), control)
  const place = `POST ${PATHS.catalogues}/{id}/accesscontrols`
  if (!answer) return probe.notSeen('access-control', `${place}: no usable answer. Run the check again.`)
  const seen = `${place}: ${answer.status}`
  if (answer.status < 300) probe.confirm('access-control', seen)
  else probe.differ('access-control', seen, false)
}

const created = new WeakMap<Probe, Promise<string | undefined>>()

/** Creates one catalogue for each probe; resolves to its id, or undefined if the platform refused. */
export function createTestCatalogue(probe: Probe): Promise<string | undefined> {
  const id = created.get(probe) ?? create(probe)
  created.set(probe, id)
  return id
}

async function create(probe: Probe): Promise<string | undefined> {
  const body: NewCatalogue = { name: TEST_CATALOGUE, scope: 'Managed' }
  const answer = await probe.call(PATHS.catalogues, body)
  const place = `POST ${PATHS.catalogues}`
  if (!answer || answer.status === 403) {
    const how = answer
      ? 'The consent does not include the scope `catalogues`.'
      : `${place}: no usable answer. Run the check again.`
    probe.notSeen('new-catalogue', how)
    return undefined
  }
  const catalogue = answer.status < 300 ? catalogueSchema.safeParse(answer.json) : undefined
  if (catalogue?.success) probe.confirm('new-catalogue', `${place}: ${answer.status}, with the catalogue`)
  else probe.differ('new-catalogue', `${place}: ${answer.status}, without a catalogue`, false)
  return catalogue?.data?.id
}
