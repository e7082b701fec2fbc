/** What the command does with a catalogue: finds or creates it, and sends to it in its turn. */
import { createHash, randomUUID } from 'node:crypto'
import { basename } from 'node:path'
import * as z from 'zod'
import { type PageOf, parseJson, retry } from '../../connect/index.ts'
import type { Key, Lease } from '../../connect/stores.ts'
import { createLog } from '../../runtime/log.ts'
import { print } from '../../runtime/print.ts'
import { createCatalogues } from '../catalogues/catalogues.ts'
import { type Catalogue, type NewCatalogue, newCatalogueSchema } from '../catalogues/contract.ts'
import { createdKey } from '../catalogues/created.ts'
import type { ByApiKey } from '../first-party/by-api-key.cli.ts'
import { batchCount, type Item, itemsOfBatches, MAX_BATCH, readBatch } from './batches.ts'
import { createCatalogueImports } from './catalogue-imports.ts'
import type { Found } from './found.ts'
import { NOTHING_SENT, type Progress, progressSchema } from './import.ts'
import type { Received, Sent } from './received.ts'
import { ReceivedStore } from './received-store.ts'
import { type ImportResult, runImport } from './run.ts'
import { StoredImports } from './stored.ts'
import { texts } from './texts.ts'
import { takeFreeTurn, takeTurn } from './turns.ts'

/** Where the items go, and what was received there. */
export interface Target {
  /** Null: the catalogue is created when they are sent. */
  catalogue: Catalogue | null
  name: string
  scope: string
  received: Received | null
  revision: string
  /** Aborts when the command is stopped, or when another one may have the turn. */
  signal: AbortSignal
}

/** What is sent. */
export interface Content {
  fileName: string
  found: Found
  /** The folder of the items, for `readBatch`. */
  itemsPath: string
}

export interface PushOptions {
  catalogue?: string
  catalogueId?: string
  scope?: NewCatalogue['scope']
}

/** A new catalogue has nothing that is not from here. */
const NEW: Received = { revision: '', isUnfinished: false, files: [], prices: [], isOwn: true }

/** What the store remembers of an import until it has ended. `revision`: that of what the catalogue had received. */
const rememberedSchema = z.object({
  batchId: z.string(),
  /** SHA-256 (hex) of the items. */
  digest: z.string(),
  revision: z.string(),
  accepted: progressSchema.nullable(),
})
type Remembered = z.infer<typeof rememberedSchema>

/** A run of the command. */
export class Push {
  readonly #session: ByApiKey
  readonly #options: PushOptions
  readonly #signal: AbortSignal
  readonly #received: ReceivedStore

  constructor(session: ByApiKey, options: PushOptions, signal: AbortSignal) {
    this.#session = session
    this.#options = options
    this.#signal = signal
    this.#received = new ReceivedStore(session.store, session.apiUrl)
  }

  /**
   * Finds the catalogue, and works while no other import into it is running. Throws an error if one is, or if another run may be
   * creating it; if several have the name, or if its scope is not the requested one.
   */
  async inTurn(work: (target: Target) => Promise<void>): Promise<void> {
    const { store, credential } = this.#session
    const { catalogue: name = '', catalogueId } = this.#options
    const ofName = () => takeTurn({ store }, `${credential} ${name.trim()}`)
    // Two runs would create it twice.
    const turn = catalogueId === undefined ? await this.#retry(ofName) : null
    if (catalogueId === undefined && !turn) throw new Error(texts.errors.otherRunning)
    try {
      const catalogue = await this.#retry(() => this.#find())
      const scope = catalogue?.scope ?? this.#options.scope ?? 'visibility unknown'
      const target = { catalogue, name: catalogue?.name ?? name.trim(), scope }
      if (!catalogue) {
        const signal = this.#until(turn)
        return await work({ ...target, received: NEW, revision: '', signal })
      }
      await this.#inTurnOf(catalogue, async (signal) => {
        const { received, revision } = await this.#received.read(catalogue.id)
        await work({ ...target, received, revision, signal })
      })
    } finally {
      await turn?.release()
    }
  }

  /** Whether an earlier run was interrupted while it sent these items, and the catalogue has received nothing else since. */
  async isResumed(target: Target, content: Content): Promise<boolean> {
    return (await this.#earlier(target, await digestOf(content))) !== null
  }

  /**
   * Sends the items, or the rest of them if an earlier run was interrupted, creates the catalogue if it is missing, and remembers what
   * it has received, however that ends.
   */
  async send(target: Target, content: Content): Promise<void> {
    if (target.catalogue) return this.#sendTo(target.catalogue, target, content)
    const catalogue = await this.#retry(async () => (await this.#find()) ?? this.#create())
    await this.#inTurnOf(catalogue, (signal) => this.#sendTo(catalogue, { ...target, signal }, content))
  }

  async #sendTo(
    catalogue: Catalogue,
    target: Target,
    { fileName, found, itemsPath }: Content,
  ): Promise<void> {
    const { store, api, source } = this.#session
    const digest = await digestOf({ itemsPath, found })
    const key = this.#key(catalogue.id)
    const earlier = await this.#earlier({ ...target, catalogue }, digest)
    const now = earlier ?? { batchId: randomUUID(), digest, revision: target.revision, accepted: null }
    let progress = now.accepted ?? NOTHING_SENT
    const remember = () => store.set(key, JSON.stringify({ ...now, accepted: progress }))
    const merge = async (isComplete: boolean) => {
      if (progress.batches === 0) return
      const items: Pick<Item, 'code' | 'price'>[] = []
      for await (const { code, price } of itemsOfBatches(itemsPath)) {
        if (items.length === progress.batches * MAX_BATCH) break
        items.push({ code, price })
      }
      const { choice, memory } = found
      const file = { fileName: basename(fileName), at: new Date().toISOString(), choice, memory }
      const sent: Sent = { ...file, by: 'command line', items, isComplete }
      await this.#received.merge(catalogue.id, { importId: now.batchId, batches: progress.batches, sent })
    }
    await remember()
    print(`${earlier ? 'Resuming' : 'Starting'} import ${now.batchId} into "${target.name}".`)
    const onProgress = createProgress(found.items)
    const result = await runImport({
      catalogueImports: createCatalogueImports(api),
      source,
      catalogueId: catalogue.id,
      batchId: now.batchId,
      signal: target.signal,
      items: found.items,
      bodyOf: (index) => readBatch(itemsPath, index),
      accepted: now.accepted,
      save: remember,
      onProgress: (next) => {
        progress = next
        onProgress(next)
      },
    }).catch(async (error: unknown) => {
      // What cannot be remembered now is sent again by the next run.
      const ending = remember().then(() => merge(false))
      await ending.catch(() => {})
      throw error
    })
    await merge(true)
    await store.delete(key)
    printResult(result, found)
  }

  /** What is remembered of an earlier run that can be resumed; null: none. */
  async #earlier({ catalogue, revision }: Target, digest: string): Promise<Remembered | null> {
    if (!catalogue) return null
    const value = await this.#session.store.get(this.#key(catalogue.id))
    // What cannot be read counts as absent.
    const earlier = rememberedSchema.safeParse(parseJson(value ?? '')).data
    if (earlier?.digest !== digest) return null
    const { importId } = await this.#received.latest(catalogue.id)
    return earlier.revision === revision || earlier.batchId === importId ? earlier : null
  }

  #key(catalogueId: string): Key {
    return { kind: 'push', owner: this.#session.credential, id: catalogueId }
  }

  #retry<T>(work: () => Promise<T>): Promise<T> {
    return retry(work, { signal: this.#signal, onWait: (reason) => print(`Retrying: ${reason}`) })
  }

  async #inTurnOf({ id }: Catalogue, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { store } = this.#session
    const stored = new StoredImports({ store, log: createLog('silent') })
    const turn = await this.#retry(() => takeFreeTurn({ store, stored, received: this.#received }, id))
    try {
      await work(this.#until(turn))
    } finally {
      await turn.release()
    }
  }

  /** Aborts when the command is stopped, or when the turn is lost. */
  #until(turn: Lease | null): AbortSignal {
    const lost = new AbortController()
    const reason = 'The store was not reachable for too long. Run the same command again to resume.'
    turn?.lost.addEventListener('abort', () => lost.abort(new Error(reason)))
    return AbortSignal.any([this.#signal, lost.signal])
  }

  /** The catalogue of the id or name; null if it is to be created. */
  async #find(): Promise<Catalogue | null> {
    const { catalogueId, catalogue = '', scope } = this.#options
    const name = catalogue.trim()
    const matches = (found: Catalogue) => (catalogueId ? found.id === catalogueId : found.name === name)
    const [found, ...others] = (await this.#all()).filter(matches)
    if (others.length > 0)
      throw new Error(
        `Several catalogues are named "${name}". Choose one with --catalogue-id: ${[found, ...others].map((one) => one?.id).join(', ')}.`,
      )
    // Prices for selected builders must not end up in a catalogue that every builder can see.
    if (scope && found?.scope && found.scope.toLowerCase() !== scope.toLowerCase())
      throw new Error(`The catalogue "${found.name}" is ${found.scope}, not ${scope}. Nothing was sent.`)
    if (!found && catalogueId) throw new Error(`No catalogue has the id ${catalogueId}.`)
    if (!found && !scope)
      throw new Error(`No catalogue is named "${name}". To create it, add --scope Public or --scope Managed.`)
    return found ?? null
  }

  async #create(): Promise<Catalogue> {
    const { api, source, store, apiUrl } = this.#session
    const { catalogue = '', scope } = this.#options
    const given = newCatalogueSchema.parse({ name: catalogue.trim(), scope })
    const created = await createCatalogues(api).create(source, given)
    // It exists: without the note, its first import only asks more.
    await store.set(createdKey(apiUrl, created.id), 'created').catch(() => {})
    print(`Created catalogue "${given.name}" (${given.scope}).`)
    return created
  }

  async #all(): Promise<Catalogue[]> {
    const { api, source } = this.#session
    const seen = new Map<string, Catalogue>()
    for (let from: PageOf<Catalogue>['next'] = { skip: 0, after: '' }; from; ) {
      this.#signal.throwIfAborted()
      const { items, next, repeated } = await createCatalogues(api).list(source, { top: 100, ...from })
      for (const catalogue of items) seen.set(catalogue.id, catalogue)
      if (repeated) print(`The platform lists only the first ${seen.size} catalogues.`)
      from = next
    }
    return [...seen.values()]
  }
}

async function digestOf({ itemsPath, found }: Pick<Content, 'itemsPath' | 'found'>): Promise<string> {
  const hash = createHash('sha256')
  for (let index = 0; index < batchCount(found.items); index++) hash.update(await readBatch(itemsPath, index))
  return hash.digest('hex')
}

export const formatCount = (number: number): string => number.toLocaleString('en-AU')

function printResult({ sent, batches, problems, job }: ImportResult, { rejected }: Found): void {
  const skipped = rejected.reduce((sum, { count }) => sum + count, 0)
  const notSent = skipped > 0 ? ` ${formatCount(skipped)} rows were not sent.` : ''
  const uploads = `${formatCount(batches)} ${batches === 1 ? 'batch' : 'batches'}`
  print(`Completed: ${formatCount(sent)} items in ${uploads}.${notSent}`)
  if (problems !== null) throw new Error(problems)
  if (job.message) print(`Message from the platform: ${job.message.slice(0, 500)}`)
}

/** Prints how far an import is: a line for each tenth, for each word of the platform, and for each reason to wait. */
function createProgress(total: number): (progress: Readonly<Progress>) => void {
  let last = ''
  return ({ phase, sent, processed, platformState, waiting }) => {
    const isSent = phase === 'processing'
    const tenth = Math.floor(((isSent ? (processed ?? 0) : sent) / total) * 10)
    const now = `${phase} ${tenth} ${platformState} ${waiting}`
    if (phase === 'starting' || now === last) return
    last = now
    const count = processed === null ? 'an unknown number' : formatCount(processed)
    const state = platformState === null ? '' : ` ("${platformState}")`
    const how = isSent ? `All sent; the platform${state} has processed ${count}` : `Sent ${formatCount(sent)}`
    print(`${how} of ${formatCount(total)} items.${waiting ? ` ${waiting}` : ''}`)
  }
}
