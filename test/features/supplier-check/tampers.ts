import { type Answer, type Asked, CLIENT, type Tamper, type Told } from './model-supplier.ts'

/** A supplier that differs from the model: what it does, how, and what else its check needs. */
export type Case = [name: string, tamper: Tamper, subject?: Told]

/** All of these changes, one after the other. */
export const together =
  (...tampers: Tamper[]): Tamper =>
  (asked, answer) => {
    for (const tamper of tampers) tamper(asked, answer)
  }

/** The fields of a line that cannot be priced. */
export const unpriced = {
  unitPrice: null,
  discount: null,
  totalPrice: null,
  errorCode: 'x',
  errorMessage: 'x',
}

export const isToken = ({ path }: Asked) => path === '/connect/token'
export const isSearch = ({ path }: Asked) => path.startsWith('/stores/nearest')
export const isStore = ({ path }: Asked) => path.startsWith('/stores/') && !path.startsWith('/stores/nearest')
export const isPrices = ({ path }: Asked) => path === '/request-prices'

/** Changes the answers that succeed. */
export const onGood =
  (which: (asked: Asked) => boolean, change: (answer: Answer, asked: Asked) => void): Tamper =>
  (asked, answer) => {
    if (which(asked) && answer.status === 200) change(answer, asked)
  }

/** Answers another status in place of the right one. */
export const status =
  (which: (asked: Asked) => boolean, from: number, to: number, body?: unknown): Tamper =>
  (asked, answer) => {
    if (!which(asked) || answer.status !== from) return
    answer.status = to
    if (body !== undefined) answer.body = body
  }

// biome-ignore lint/suspicious/noExplicitAny: a price of any shape
type AnyPrice = any
/** Changes each price. */
export const eachPrice = (change: (price: AnyPrice) => void) =>
  onGood(isPrices, ({ body }) => {
    for (const price of body) change(price)
  })
/** Changes the prices that have no error. */
export const eachPriced = (change: (price: AnyPrice) => void) =>
  eachPrice((price) => {
    if (price.unitPrice !== null) change(price)
  })
/** Changes each store, in searches and lookups. */
export const eachStore = (change: (store: AnyPrice) => void): Tamper =>
  onGood(
    (asked) => isSearch(asked) || isStore(asked),
    (answer) => {
      answer.body = structuredClone(answer.body)
      for (const store of [answer.body].flat()) change(store)
    },
  )
/** Changes each store that is looked up. */
export const eachLookup = (change: (store: AnyPrice) => void): Tamper =>
  onGood(isStore, (answer) => {
    answer.body = structuredClone(answer.body)
    change(answer.body)
  })
/** Changes each store of a search result. */
export const eachFound = (change: (store: AnyPrice) => void): Tamper =>
  onGood(isSearch, (answer) => {
    answer.body = structuredClone(answer.body)
    for (const store of answer.body) change(store)
  })
/** Answers a search as if it were another one. */
export const searchAs = (change: (query: URLSearchParams) => void): Tamper =>
  onGood(isSearch, (answer, asked) => {
    const url = new URL(asked.path, 'http://model')
    change(url.searchParams)
    Object.assign(answer, asked.again({ path: url.pathname + url.search }))
  })
/** Answers a call as if it had a valid token. */
export const open = (which: (asked: Asked) => boolean): Tamper => {
  return (asked, answer) => {
    if (answer.status !== 401 || isToken(asked) || !which(asked)) return
    const [token] = asked.tokens.keys()
    Object.assign(answer, asked.again({ authorization: `Bearer ${token}` }))
  }
}
/** Answers a token request as if its credentials were right. */
export const grant =
  (which: (asked: Asked) => boolean): Tamper =>
  (asked, answer) => {
    if (!isToken(asked) || answer.status === 200 || !which(asked)) return
    const form = { grant_type: 'client_credentials', client_id: CLIENT.id, client_secret: CLIENT.secret }
    Object.assign(answer, asked.again({ form }))
  }
