import * as z from 'zod'
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
  const id = await createTestCatalogue(probe)
  if (id === undefined) return probe.notSeen('access-control', 'It needs a catalogue: see `new-catalogue`.')
  const control: AccessControl = { externalRef: 'PROBE1', isPreApproved: false }
  await probe.checkCreation({
    id: 'access-control',
    scope: CATALOGUES_SCOPE,
    path: PATHS.accessControls(id),
    shownPath: `${PATHS.catalogues}/{id}/accesscontrols`,
    body: control,
    schema: z.unknown(),
  })
}

const created = new WeakMap<Probe, Promise<string | undefined>>()

/** Creates one catalogue for each probe; resolves to its id, or undefined if there is none. */
export function createTestCatalogue(probe: Probe): Promise<string | undefined> {
  const id = created.get(probe) ?? create(probe)
  created.set(probe, id)
  return id
}

async function create(probe: Probe): Promise<string | undefined> {
  const body: NewCatalogue = { name: TEST_CATALOGUE, scope: 'Managed' }
  const place = { id: 'new-catalogue', scope: CATALOGUES_SCOPE, path: PATHS.catalogues }
  const catalogue = await probe.checkCreation({ ...place, body, schema: catalogueSchema })
  return catalogue?.id
}
