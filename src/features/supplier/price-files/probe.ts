import { setTimeout as pause } from 'node:timers/promises'
import type { Probe } from '../../../web/kit.ts'
import { createTestCatalogue } from '../../catalogues/probe.ts'
import { type Item, importJobSchema, outcomeOf, PATHS } from './contract.ts'

const POLLS = 20
const POLL_MS = 500
const ITEM: Item = { code: 'PROBE-1', name: 'Test item of the doctor', unit: 'each', price: 1.5 }

/** With `--write`, imports one item into a new catalogue. */
export default async function probeImports(probe: Probe): Promise<void> {
  const ids = ['start-import', 'upload-items', 'import-state']
  const notSeen = (how: string) => {
    for (const id of ids) probe.notSeen(id, how)
  }
  if (!probe.write) return notSeen('Run the doctor with `--consent --write`.')
  const catalogueId = await createTestCatalogue(probe)
  if (!catalogueId) return notSeen('No catalogue could be created.')
  const batchId = `probe-${Date.now()}`
  const steps = [
    ['start-import', PATHS.start, '/catalogues/{id}/import/start', { batchId }],
    [
      'upload-items',
      (id: string) => PATHS.items(id, batchId),
      '/catalogues/{id}/import/{batchId}/items',
      { items: [ITEM] },
    ],
  ] as const
  for (const [id, path, shown, body] of steps) {
    const answer = await probe.call(path(catalogueId), body)
    const seen = `POST ${shown}: ${answer.status}`
    if (answer.status > 299) return probe.differ(id, seen, false)
    probe.confirm(id, seen)
  }
  await poll(probe, PATHS.import(catalogueId, batchId))
}

async function poll(probe: Probe, path: string): Promise<void> {
  for (let polls = 0; polls < POLLS; polls++) {
    const answer = await probe.call(path)
    if (answer.status !== 200) return probe.differ('import-state', `GET the import: ${answer.status}`, false)
    const job = importJobSchema.safeParse(answer.json)
    if (!job.success) return probe.differ('import-state', 'it has no text field `status`', false)
    // Only a failed import has a message.
    if (outcomeOf(job.data) !== 'unfinished')
      return probe.checkFields('import-state', importJobSchema, [{ message: null, ...Object(answer.json) }])
    await pause(POLL_MS)
  }
  const how = `The import had no final status after ${(POLLS * POLL_MS) / 1000} s. Ask the platform's support team for its final states.`
  probe.differ('import-state', how, false)
}
