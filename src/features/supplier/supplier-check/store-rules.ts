import { describe, type Exchange } from './http.ts'
import { expectStatus, expectThat, inTurn, UnprovenError } from './outcomes.ts'
import { idOf, isRecord, type StoreId } from './read.ts'
import { type Rules, type Supplier, UNKNOWN_ID } from './rule.ts'
import { knownStores, NO_STORES, spread } from './stores.ts'

const MAX_LOOKUPS = 12

/** Texts that a server may take for something else than an id, or fail on. */
const ODD_IDS = ['%', '*', "'", '"', 'é😀', 'x'.repeat(300)]

/** The ids to look up: those of some stores that were found, and the one of `--store`. */
async function idsToLookUp(supplier: Supplier): Promise<StoreId[]> {
  const found = await knownStores(supplier).catch(() => [])
  const ids = spread(found, MAX_LOOKUPS).map(({ id }) => id)
  const { storeId } = supplier.known
  return storeId === undefined || ids.some((id) => String(id) === storeId) ? ids : [storeId, ...ids]
}

/** Looks up an id that does not exist. Throws `UnprovenError` if it happens to be that of a store. */
async function lookUpUnknown({ client }: Supplier, id: string): Promise<Exchange> {
  const exchange = await client.lookUp(id)
  if (String(idOf(exchange.json)) === id) throw new UnprovenError(`the made-up id ${id} is that of a store`)
  return exchange
}

/** The lookup of a store (specification 4.1, 7). */
export const STORE_RULES: Rules = {
  'store.one': {
    given: ['4.1', 'GET /stores/{id} returns the one store that has this id.'],
    async check(supplier) {
      const ids = await idsToLookUp(supplier)
      return inTurn(ids, (id) => expectStore(supplier, id), NO_STORES)
    },
  },
  'store.unknown': {
    given: [
      '7',
      'GET /stores/{id} with an unknown id, even one that begins or ends like a known one, returns 404.',
    ],
    async check(supplier) {
      const ids = (await idsToLookUp(supplier)).slice(0, 3)
      const near = ids.flatMap((id) => [`${id}-${UNKNOWN_ID}`, `${UNKNOWN_ID}-${id}`])
      return inTurn([UNKNOWN_ID, '987654321', 'nowhere', ...near], async (id) =>
        expectStatus(await lookUpUnknown(supplier, id), [404], `The lookup of the unknown id ${id}`),
      )
    },
  },
  'store.odd-id': {
    given: [
      '7',
      'GET /stores/{id} with an odd id, such as %, finds no store and does not fail: no 2xx, no 5xx.',
    ],
    needs: ['store.unknown'],
    check: (supplier) =>
      inTurn(ODD_IDS, async (id) => {
        const exchange = await lookUpUnknown(supplier, id)
        const message = `The lookup of an unknown id must return 404, not ${describe(exchange)}.`
        return expectThat(exchange.status >= 300 && exchange.status < 500, exchange, message)
      }),
  },
}

/** Throws `WrongError` unless the lookup of an id returns the store that has it. */
async function expectStore({ client, known }: Supplier, id: StoreId): Promise<Exchange> {
  const exchange = await client.lookUp(id)
  if (exchange.status === 404 && id === known.storeId)
    throw new UnprovenError(`there is no store ${id}; name one that exists with --store ID`)
  expectStatus(exchange, [200], `The lookup of store ${id}`)
  expectThat(isRecord(exchange.json), exchange, 'A lookup must return one store, a JSON object.')
  const found = idOf(exchange.json)
  if (found === undefined)
    throw new UnprovenError('a store has no field like id; the specification does not show its name')
  return expectThat(String(found) === String(id), exchange, `The lookup of store ${id} returns ${found}.`)
}
