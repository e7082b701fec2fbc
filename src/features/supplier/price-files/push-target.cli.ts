/** The catalogue that the command sends to: found by its id or name, or created. */
import { type PageOf, retry } from '../../../connect/index.ts'
import { print } from '../../../runtime/print.ts'
import { createCatalogues, createdKey } from '../../catalogues/catalogues.ts'
import { type Catalogue, type NewCatalogue, newCatalogueSchema } from '../../catalogues/contract.ts'
import type { ByApiKey } from '../first-party/by-api-key.cli.ts'
import { texts } from './texts.ts'
import { takeTurn } from './turns.ts'

export interface TargetOptions {
  catalogue?: string
  catalogueId?: string
  scope?: NewCatalogue['scope']
}

/**
 * Finds the catalogue. If it is to be created, the result has an empty id. Throws an error if several catalogues have the name, or if
 * the scope of the catalogue is not the requested one.
 */
export async function findCatalogue(
  session: ByApiKey,
  { catalogue = '', catalogueId, scope }: TargetOptions,
  signal: AbortSignal,
): Promise<Catalogue> {
  const name = catalogue.trim()
  const matches = (found: Catalogue) => (catalogueId ? found.id === catalogueId : found.name === name)
  const onWait = (reason: string) => print(`Retrying: ${reason}`)
  const all = await retry(() => allCatalogues(session, signal), { signal, onWait })
  const [found, ...others] = all.filter(matches)
  if (others.length > 0)
    throw new Error(
      `Several catalogues are named "${name}". Choose one with --catalogue-id: ${[found, ...others].map((one) => one?.id).join(', ')}.`,
    )
  // Prices for selected builders must not end up in a catalogue that every builder can see.
  if (scope && found?.scope && found.scope.toLowerCase() !== scope.toLowerCase())
    throw new Error(`The catalogue "${found.name}" is ${found.scope}, not ${scope}. Nothing was sent.`)
  if (found) return found
  if (catalogueId) throw new Error(`No catalogue has the id ${catalogueId}.`)
  if (!scope)
    throw new Error(`No catalogue is named "${name}". To create it, add --scope Public or --scope Managed.`)
  return { id: '', name, scope }
}

/** Creates the catalogue, unless it is there by now. Throws an error if another run may be creating it. */
export async function createCatalogue(
  session: ByApiKey,
  options: TargetOptions,
  signal: AbortSignal,
): Promise<Catalogue> {
  const { api, apiUrl, credential, source, store } = session
  const { catalogue = '', scope } = options
  const turn = await takeTurn({ store }, `${credential} ${catalogue.trim()}`)
  if (!turn) throw new Error(texts.errors.otherRunning)
  try {
    const found = await findCatalogue(session, options, signal)
    if (found.id !== '') return found
    const given = newCatalogueSchema.parse({ name: catalogue.trim(), scope })
    const created = await createCatalogues(api).create(source, given)
    // The catalogue exists. Without the note, its first import only asks for a tick.
    await store.set(createdKey(apiUrl, created.id), 'created').catch(() => {})
    print(`Created catalogue "${given.name}" (${given.scope}).`)
    return created
  } finally {
    await turn.release()
  }
}

async function allCatalogues({ api, source }: ByApiKey, signal: AbortSignal): Promise<Catalogue[]> {
  const seen = new Map<string, Catalogue>()
  for (let from: PageOf<Catalogue>['next'] = { skip: 0, after: '' }; from; ) {
    signal.throwIfAborted()
    const { items, next, repeated } = await createCatalogues(api).list(source, { top: 100, ...from })
    for (const catalogue of items) seen.set(catalogue.id, catalogue)
    if (repeated) print(`The platform lists only the first ${seen.size} catalogues.`)
    from = next
  }
  return [...seen.values()]
}
