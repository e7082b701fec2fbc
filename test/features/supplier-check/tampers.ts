import { type Answer, type Any, type Asked, CLIENT, type Tamper, type Told } from './model-supplier.ts'

/** Suppliers that differ from the model, by what they do: how, and what else their check is told. */
export type Cases = Record<string, Tamper | (Told & { tamper: Tamper })>

export const casesOf = (cases: Cases) =>
  Object.entries(cases).map(([name, of]) => ({ name, ...(typeof of === 'function' ? { tamper: of } : of) }))

/** All of these changes, one after the other. */
export const together =
  (...tampers: Tamper[]): Tamper =>
  (asked, answer) => {
    for (const tamper of tampers) tamper(asked, answer)
  }

type Which = (asked: Asked) => boolean
export const isToken: Which = ({ path }) => path === '/connect/token'
export const isSearch: Which = ({ path }) => path.startsWith('/stores/nearest')
export const isStore: Which = ({ path }) => path.startsWith('/stores/') && !path.startsWith('/stores/nearest')
export const isPrices: Which = ({ path }) => path === '/request-prices'

/** Changes the answers that succeed. */
export const onGood =
  (which: Which, change: (answer: Answer, asked: Asked) => void): Tamper =>
  (asked, answer) => {
    if (which(asked) && answer.status === 200) change(answer, asked)
  }
/** Answers that succeed, with another body. */
export const body = (which: Which, change: (body: Any, asked: Asked) => unknown) =>
  onGood(which, (answer, asked) => {
    answer.body = change(answer.body, asked)
  })
/** Answers that succeed, with these fields. */
export const fields = (which: Which, more: object) => body(which, (answer) => ({ ...answer, ...more }))

/** Answers another status, whatever the right one is. */
export const refusing =
  (which: Which, to: number): Tamper =>
  (asked, answer) => {
    if (which(asked)) answer.status = to
  }
/** Answers another status in place of the right one. */
export const status =
  (which: Which, from: number, to: number, body?: unknown): Tamper =>
  (asked, answer) => {
    if (!which(asked) || answer.status !== from) return
    answer.status = to
    if (body !== undefined) answer.body = body
  }

/** Changes prices or stores: in place, or by the fields that it returns. One that is undefined is left out. */
type Change = (element: Any) => unknown
const changed = (which: Which, change: Change) =>
  body(which, (answer) => {
    for (const element of [answer].flat()) Object.assign(element, change(element))
    return answer
  })
/** Changes each price. */
export const eachPrice = (change: Change) => changed(isPrices, change)
/** Changes the prices that have no error. */
export const eachPriced = (change: Change) =>
  eachPrice((price) => (price.unitPrice === null ? {} : change(price)))
/** Changes the prices that have an error. */
export const eachFailed = (change: Change) => eachPrice((price) => (price.errorCode ? change(price) : {}))
/** Changes each store, in searches and lookups. */
export const eachStore = (change: Change) => changed((asked) => isSearch(asked) || isStore(asked), change)
/** Changes each store that is looked up. */
export const eachLookup = (change: Change) => changed(isStore, change)
/** Changes each store of a search result. */
export const eachFound = (change: Change) => changed(isSearch, change)

/** The fields of a line that cannot be priced. */
export const noPrice = { unitPrice: null, discount: null, totalPrice: null }
export const unpriced = { ...noPrice, errorCode: 'x', errorMessage: 'x' }
export const noError = { errorCode: undefined, errorMessage: undefined }
export const rounded = (amount: number) => Number(amount.toFixed(6))

/** Answers a search as if it were another one. */
export const searchAs = (change: (query: URLSearchParams) => void): Tamper =>
  onGood(isSearch, (answer, asked) => {
    const url = new URL(asked.path, 'http://model')
    change(url.searchParams)
    Object.assign(answer, asked.again({ path: url.pathname + url.search }))
  })
/** Answers a call as if it were one of another store. */
export const storeAs =
  (which: (path: string) => boolean, id: string): Tamper =>
  (asked, answer) => {
    if (which(asked.path)) Object.assign(answer, asked.again({ path: `/stores/${id}` }))
  }
/** Answers a call as if it had a valid token. */
export const open =
  (which: Which): Tamper =>
  (asked, answer) => {
    if (answer.status !== 401 || isToken(asked) || !which(asked)) return
    const [token] = asked.tokens.keys()
    Object.assign(answer, asked.again({ authorization: `Bearer ${token}` }))
  }
/** Answers a token request as if its credentials were right. */
export const grant =
  (which: Which): Tamper =>
  (asked, answer) => {
    if (!isToken(asked) || answer.status === 200 || !which(asked)) return
    const form = { grant_type: 'client_credentials', client_id: CLIENT.id, client_secret: CLIENT.secret }
    Object.assign(answer, asked.again({ form }))
  }
