/** Finds or creates the catalogue to which `push-catalogue` sends a file. */
import { retry } from '../../../connect/index.ts'
import { print } from '../../../runtime/print.ts'
import { createCatalogues } from '../../catalogues/catalogues.ts'
import { type Catalogue, type NewCatalogue, newCatalogueSchema } from '../../catalogues/contract.ts'
import type { ByApiKey } from '../first-party/by-api-key.cli.ts'
import { conflict } from './errors.ts'
import { texts } from './import-texts.ts'
import type { Records } from './records.ts'

export interface Target {
  name: string
  /** The visibility of a new catalogue, or the required visibility of an existing catalogue. */
  scope?: NewCatalogue['scope'] | undefined
}

/** Finds the catalogue; null if it must be created. Throws an error if the name is ambiguous or the scope is different. */
export async function findCatalogue(session: ByApiKey, { name, scope }: Target): Promise<Catalogue | null> {
  const onWait = (reason: string) => print(`Retrying: ${reason}`)
  const all = await retry(() => allCatalogues(session), { onWait })
  const [found, other] = all.filter((catalogue) => catalogue.name === name)
  if (other)
    throw new Error(`Several catalogues are named "${name}". Rename all but one of them on the platform.`)
  // Prices for selected builders must not end up in a catalogue that every builder can see.
  if (scope && found?.scope && found.scope.toLowerCase() !== scope.toLowerCase())
    throw new Error(`The catalogue "${name}" is ${found.scope}, not ${scope}. Nothing was sent.`)
  if (!found && !scope)
    throw new Error(`No catalogue is named "${name}". To create it, add --scope Public or --scope Managed.`)
  return found ?? null
}

/**
 * Creates the catalogue if it still does not exist. Throws `ImportError` (409) while another run may be creating it, and a `ZodError`
 * if its name or scope is invalid.
 */
export async function createCatalogue(
  session: ByApiKey,
  records: Records,
  target: Target,
): Promise<Catalogue> {
  const { api, source, credential } = session
  const lease = await records.lease(`${credential} ${target.name}`)
  if (!lease) throw conflict(texts.errors.otherRunning)
  try {
    const found = await findCatalogue(session, target)
    if (found) return found
    const created = await createCatalogues(api).create(source, newCatalogueSchema.parse(target))
    print(`Created catalogue "${target.name}" (${target.scope}).`)
    return created
  } finally {
    await lease.release()
  }
}

async function allCatalogues({ api, source }: ByApiKey): Promise<Catalogue[]> {
  const seen = new Map<string, Catalogue>()
  let from: { skip: number; after: string } | null = { skip: 0, after: '' }
  while (from) {
    const page = await createCatalogues(api).list(source, { top: 100, ...from })
    for (const catalogue of page.items) seen.set(catalogue.id, catalogue)
    from = page.next
  }
  return [...seen.values()]
}
