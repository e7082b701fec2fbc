// Suppliers that break a sentence of the specification.
import { gzipSync } from 'node:zlib'
import {
  answers,
  failedLine,
  options,
  parsed,
  pricedLine,
  searchValue,
  storeIds,
  succeeded,
} from './change.ts'
import type { Call, Supplier, Suppliers } from './supplier.ts'
import { cents, exactTotal, json, text, wait } from './supplier.ts'

const fault = () => json(500, { message: 'Fault of the server' })

// SQL LIKE: % is any text and _ any character.
function like(pattern: string, value: string): boolean {
  const source = [...pattern]
    .map((c) => (c === '%' ? '.*' : c === '_' ? '.' : c.replace(/[\\^$.*+?()[\]{}|]/, '\\$&')))
    .join('')
  return new RegExp(`^${source}$`, 's').test(value)
}

// Remembers lines by a part of what was asked.
const remembered = (key: (line: any, member: string | null) => string): Supplier => ({
  steps: (base) => {
    const known = new Map<string, any>()
    return {
      priceLine(line, member, index) {
        const name = key(line, member)
        if (!known.has(name)) known.set(name, base.priceLine(line, member, index))
        return { ...known.get(name), itemId: line.itemId, storeId: line.storeId, quantity: line.quantity }
      },
    }
  },
})

const totals = (
  change: (right: number, unitPrice: number, quantity: number, discount: number) => number,
): Supplier => ({
  steps: (base) => ({
    total: (unit, quantity, off) => change(base.total(unit, quantity, off), unit, quantity, off),
  }),
})

/** By the sentence of the specification that they break. */
export const wrongSuppliers: Record<string, Suppliers> = {
  '§2.1 "expires_in | integer | yes | number of seconds the access token is valid"': {
    'only the newest four tokens live': {
      steps: (base, _data, _steps, all) => ({
        accept: (issued) => issued.number > all.size - 4 && base.accept(issued),
      }),
    },
    'tokens after the fifth are refused': {
      steps: (base) => ({ accept: (issued) => issued.number <= 5 && base.accept(issued) }),
    },
  },
  '§7 "POST /connect/token | 400 | request malformed or required parameters missing"': {
    'malformed token request gives 401': {
      options: options({ more: ['--token-json'] }),
      steps: (base) => ({
        token: (call) =>
          base.readTokenRequest(call) ? base.token(call) : json(401, { error: 'invalid_client' }),
      }),
    },
  },
  '§7 "POST /connect/token | 401 | client_id or client_secret invalid"': {
    'wrong secret gives 200 and an error': {
      steps: (base) => ({
        token: async (call) => {
          const answer = await base.token(call)
          return answer.status === 401 ? { ...answer, status: 200 } : answer
        },
      }),
    },
  },
  '§7 "GET /stores/nearest | 200 | no store in range: an empty array, not an error"': {
    'empty search gives 204': {
      steps: succeeded('/stores/nearest', (answer) =>
        answer.body.toString() === '[]' ? text(204, '') : answer,
      ),
    },
    'always the three nearest': {
      steps: (base) => ({
        search: (latitude, longitude) => base.search(latitude, longitude, 30000).slice(0, 3),
      }),
    },
    'search remembered without its distance': {
      steps: (base) => {
        const known = new Map<string, unknown[]>()
        return {
          search(latitude, longitude, radius) {
            const key = `${latitude},${longitude}`
            if (!known.has(key)) known.set(key, base.search(latitude, longitude, radius))
            return known.get(key)!
          },
        }
      },
    },
  },
  '§4.1 "JSON array of Store; an empty array when no store is in range"': {
    'a single store is not in an array': {
      steps: searchValue((stores) => (stores.length === 1 ? stores[0] : stores)),
    },
  },
  '§4.1 "query: latitude, longitude and a distance in kilometres"': {
    'diameter in miles': {
      steps: (base) => ({
        search: (latitude, longitude, radius) => base.search(latitude, longitude, (radius * 1.609344) / 2),
      }),
    },
    'degrees of longitude as long as at the equator': {
      steps: () => ({
        distance: (latitude, longitude, store) =>
          111.195 * Math.hypot(store.latitude - latitude, store.longitude - longitude),
      }),
    },
    'position cut to one decimal': {
      steps: (base) => ({
        distance: (latitude, longitude, store) =>
          base.distance(Math.trunc(latitude * 10) / 10, Math.trunc(longitude * 10) / 10, store),
      }),
    },
  },
  '§7 "GET /stores/{id} | 404 | no store with that id"': {
    'unknown store is a fault': {
      steps: (base) => ({
        lookup: (_call, id) => json(200, { ...base.findStore(id), name: base.findStore(id)!.name }),
      }),
    },
    'id of another form gives 422': {
      steps: (base) => ({
        lookup: (call, id) =>
          /^ST-\d{3}$/.test(id)
            ? base.lookup(call, id)
            : json(422, { message: 'An id is ST- and three digits' }),
      }),
    },
    'unknown store gives the first store': {
      steps: (base, data) => ({ findStore: (id) => base.findStore(id) ?? data.stores[0] }),
    },
    'a star in a store id matches all': {
      steps: (base, data) => ({
        findStore: (id) =>
          id.includes('*')
            ? data.stores.find((store) => like(id.replaceAll('*', '%'), store.id))
            : base.findStore(id),
      }),
    },
    'a quote in a store id is a fault': {
      steps: (base) => ({ lookup: (call, id) => (id.includes("'") ? fault() : base.lookup(call, id)) }),
    },
    'store ids compared as numbers': {
      data: storeIds((_id, index) => String(1000 + index * 1000)),
      options: options({ notInRange: 'A-300@2000' }),
      steps: (_base, data) => ({
        findStore: (id) => data.stores.find((store) => Number(store.id) === Number(id)),
      }),
    },
    'leading zeros of a store id are dropped': {
      data: storeIds((id) => id.slice(3)),
      options: options({ notInRange: 'A-300@102' }),
      steps: (base) => ({ findStore: (id) => base.findStore(id.replace(/^0+/, '')) }),
    },
    'spaces after a store id are dropped': {
      steps: (base) => ({ findStore: (id) => base.findStore(id.trimEnd()) }),
    },
  },
  '§4.1 "path: id (store identifier) | one Store; 404 when the id does not exist"': {
    'ids that differ in letter case': {
      data: (data) => {
        storeIds((id, index) => (index === 0 ? 'syd-a' : index === 1 ? 'SYD-A' : id))(data)
      },
      options: options({ notInRange: 'A-300@SYD-A' }),
      steps: (_base, data) => ({
        findStore: (id) => data.stores.find((store) => store.id.toLowerCase() === id.toLowerCase()),
      }),
    },
    'slash in a store id is not found': {
      data: storeIds((id) => id.replace('-', '/')),
      options: options({ notInRange: 'A-300@ST/102' }),
      steps: (base) => ({
        lookup: (call, id) =>
          id.includes('/') ? json(404, { message: 'No such address' }) : base.lookup(call, id),
      }),
    },
  },
  '§2.4 "error code | string | present when live pricing cannot be given for the item (e.g. item not in range at the requested store)"':
    {
      'an item of the range with three nulls and no error': {
        steps: pricedLine((line) => {
          if (line.itemId === 'A-100')
            Object.assign(line, { unitPrice: null, discount: null, totalPrice: null })
        }),
      },
      'error is true': {
        steps: failedLine((line) => {
          delete line.errorCode
          delete line.errorMessage
          line.error = true
        }),
      },
    },
  '§2.4 "totalPrice | number, nullable | unitPrice * quantity - discount; null on error"': {
    'totals above 999 are text': {
      steps: pricedLine((line) => {
        if (line.totalPrice >= 1000)
          line.totalPrice = line.totalPrice.toLocaleString('en-AU', { minimumFractionDigits: 2 })
      }),
    },
    'total with tax from ten up': totals((right, _unit, quantity) =>
      quantity >= 10 ? cents(right * 1.1) : right,
    ),
    'quantity is one byte': totals((_right, unit, quantity, off) =>
      exactTotal(unit, quantity > 255 ? Math.floor(quantity) & 255 : quantity, off),
    ),
    'total with 32 bits': totals((right) => (Math.round(right * 1000) | 0) / 1000),
    'a cent is lost for a quantity of seven': totals((right, _unit, quantity) =>
      quantity % 7 === 0 ? cents(right - 0.01) : right,
    ),
    'total in single precision': totals((right) => Math.fround(right)),
    'total in six digits': {
      options: options({ items: ['A-100', 'C-500'] }),
      ...totals((right) => Number(right.toPrecision(6))),
    },
    'second batch has quantities of the first': {
      steps: (base) => ({
        priceLines: (request) =>
          request.items.map((line, index) => ({
            ...base.priceLine(
              { ...line, quantity: request.items[index % 50]!.quantity },
              request.memberNumber ?? null,
              index,
            ),
            quantity: line.quantity,
          })),
      }),
    },
    'prices remembered across quantities': remembered(
      (line, member) => `${line.itemId}|${line.storeId}|${member}`,
    ),
  },
  '§7 "item cannot be priced (for example not in range at the requested store): the item carries an error code and message"':
    {
      'not in range has nulls and no error': {
        steps: failedLine((line) => {
          if (line.errorCode === 'not_in_range') {
            delete line.errorCode
            delete line.errorMessage
          }
        }),
      },
      'prices remembered across stores': remembered(
        (line, member) => `${line.itemId}|${line.quantity}|${member}`,
      ),
    },
  '§2.4 "discount | number, nullable | total discount for the requested quantity; null on error"': {
    'discount is per unit': {
      steps: (base) => ({
        priced: (line, unit, off, sum) =>
          base.priced(line, unit, Number((off / (line.quantity as number)).toFixed(4)), sum),
      }),
    },
  },
  '§1 "obtain current builder-specific prices, including discounts and promotions the builder is entitled to"':
    {
      'prices remembered across members': remembered(
        (line) => `${line.itemId}|${line.storeId}|${line.quantity}`,
      ),
      'member numbers of overlapping price requests are mixed up': {
        steps: (base) => {
          let current: string | null = null
          return {
            async prices(call) {
              const { memberNumber = null } = parsed(call)
              current = memberNumber
              await wait(15)
              const body = { ...parsed(call), memberNumber: current ?? undefined }
              return base.prices({ ...call, body: Buffer.from(JSON.stringify(body)) })
            },
          }
        },
      },
    },
  '§4 "All bodies are JSON unless stated."': {
    'long answers are cut off': {
      steps: answers((answer) =>
        answer.body.length > 4000 ? { ...answer, body: answer.body.subarray(0, 4000) } : answer,
      ),
    },
    'gzip without a header': {
      steps: succeeded('/request-prices', (answer) => ({ ...answer, body: gzipSync(answer.body) })),
    },
    'single quotes in place of double ones': {
      steps: succeeded('/stores/', (answer) => ({
        ...answer,
        body: Buffer.from(answer.body.toString().replaceAll('"', "'")),
      })),
    },
  },
  '§4.1 "POST | {supplier_base_url}/request-prices | body per 2.3 | JSON array of price items (2.4)"': {
    'fault at every eleventh price request': {
      steps: (base) => {
        let calls = 0
        return { prices: (call) => (++calls % 11 === 0 ? fault() : base.prices(call)) }
      },
    },
    'fault if calls overlap': {
      steps: (base) => ({
        async prices(call) {
          await wait(3)
          return call.alone ? base.prices(call) : fault()
        },
      }),
    },
    'overlapping price requests are mixed up': {
      steps: (base) => {
        let current: Call
        return {
          async prices(call) {
            current = call
            await wait(15)
            return base.prices(current)
          },
        }
      },
    },
  },
}
