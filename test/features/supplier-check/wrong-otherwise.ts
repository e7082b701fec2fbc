import { type Any, type Asked, CLIENT, MEMBER, type Tamper } from './model-supplier.ts'
import {
  body,
  type Cases,
  eachFailed,
  eachPriced,
  grant,
  isPrices,
  isSearch,
  isStore,
  isToken,
  noError,
  noPrice,
  onGood,
  refusing,
  rounded,
  searchAs,
  status,
  storeAs,
} from './tampers.ts'

const bearerOf = ({ authorization = '' }: Asked) => authorization.replace('Bearer ', '')
const indexOf = (asked: Asked) => [...asked.tokens.keys()].indexOf(bearerOf(asked))
const prices = (change: (prices: Any[], request: Any) => unknown) =>
  body(isPrices, (all, { json }) => change(all, json))
type Priced = Record<'unitPrice' | 'quantity' | 'discount' | 'totalPrice', number>
const totals = (change: (price: Priced) => number) => eachPriced((price) => ({ totalPrice: change(price) }))
const sumOf = ({ unitPrice, discount }: Priced, quantity: number) => rounded(unitPrice * quantity - discount)
/** Answers as it first answered to a request that is the same in a part. */
const remembered = (which: (asked: Asked) => boolean, key: (asked: Asked, line: Any) => string): Tamper => {
  const known = new Map<string, Any>()
  const recall = (asked: Asked, answer: Any) => {
    const name = key(asked, answer)
    if (!known.has(name)) known.set(name, answer)
    return known.get(name)
  }
  return body(which, (answer, asked) =>
    isPrices(asked)
      ? answer.map((line: Any) => {
          const { itemId, storeId, quantity } = line
          return { ...recall(asked, line), itemId, storeId, quantity }
        })
      : recall(asked, answer),
  )
}
const everyEleventh = () => {
  let calls = 0
  return refusing((asked) => isPrices(asked) && ++calls % 11 === 0, 500)
}
const text = (which: (asked: Asked) => boolean, change: (json: string) => string) =>
  body(which, (answer) => change(JSON.stringify(answer)))
/** An answer for an unknown store. */
const lookupAs = (which: (id: string) => boolean, id: string) =>
  storeAs((path) => /^\/stores\/(?!nearest)/.test(path) && which(decodeURIComponent(path.slice(8))), id)

/** Suppliers that are wrong in further ways: each breaks a given rule, or leaves it unproven. */
export const WRONG_OTHERWISE: Cases = {
  'only the newest four tokens live': refusing(
    (asked) => !isToken(asked) && indexOf(asked) < asked.tokens.size - 4,
    401,
  ),
  'tokens after the fifth are refused': refusing((asked) => indexOf(asked) > 4, 401),
  'a malformed token request gives 401': {
    tamper: status((asked) => isToken(asked) && !asked.json, 400, 401),
    tokenJson: true,
  },
  'a wrong secret gives 200 and an error': status(isToken, 401, 200),
  'the first 16 characters of the secret count': grant(
    ({ form }) =>
      form.client_id === CLIENT.id && form.client_secret?.slice(0, 16) === CLIENT.secret.slice(0, 16),
  ),
  'an empty search gives 204': onGood(isSearch, (answer) => {
    if (answer.body.length === 0) answer.status = 204
  }),
  'a single store is not in an array': body(isSearch, (stores) => (stores.length === 1 ? stores[0] : stores)),
  'a diameter in miles': searchAs((query) =>
    query.set('radius', String((Number(query.get('radius')) * 1.609344) / 2)),
  ),
  'the position is cut to one decimal': searchAs((query) => {
    for (const name of ['latitude', 'longitude'])
      query.set(name, String(Math.trunc(Number(query.get(name)) * 10) / 10))
  }),
  'always the three nearest': (asked, answer) => {
    searchAs((query) => query.set('radius', '30000'))(asked, answer)
    if (isSearch(asked) && answer.status === 200) answer.body = answer.body.slice(0, 3)
  },
  'a search is remembered without its distance': remembered(isSearch, ({ path }) =>
    path.replace(/radius=[^&]*/, ''),
  ),
  'an unknown store is a fault': status(isStore, 404, 500),
  'an id of another form gives 422': status(
    ({ path }) => /[^a-z/]/.test(path) && path.length < 300,
    404,
    422,
  ),
  'an unknown store gives the first store': (asked, answer) => {
    if (isStore(asked) && answer.status === 404)
      Object.assign(answer, asked.again({ path: '/stores/sydney' }))
  },
  'a star in a store id matches all': lookupAs((id) => id.includes('*'), 'sydney'),
  'a quote in a store id is a fault': status(({ path }) => /'|%27/.test(path), 404, 500),
  'spaces after a store id are dropped': lookupAs((id) => id.trimEnd() === 'sydney', 'sydney'),
  'an item of the range has three nulls and no error': eachPriced(({ itemId }) =>
    itemId === 'FT-1' ? noPrice : {},
  ),
  'not in range has nulls and no error': eachFailed(({ errorCode }) =>
    errorCode === 'item_not_in_range' ? noError : {},
  ),
  'an error is true': eachFailed(() => ({ ...noError, error: true })),
  'totals above 999 are text': eachPriced(({ totalPrice }) =>
    totalPrice >= 1000
      ? { totalPrice: totalPrice.toLocaleString('en-AU', { minimumFractionDigits: 2 }) }
      : {},
  ),
  'the discount is per unit': eachPriced(({ discount, quantity }) => ({
    discount: Number((discount / quantity).toFixed(4)),
  })),
  'totals have tax from ten up': totals(({ totalPrice, quantity }) =>
    quantity >= 10 ? Number((totalPrice * 1.1).toFixed(2)) : totalPrice,
  ),
  'a quantity is one byte': totals((price) =>
    sumOf(price, price.quantity > 255 ? Math.floor(price.quantity) & 255 : price.quantity),
  ),
  'a total has 32 bits': totals(({ totalPrice }) => (Math.round(totalPrice * 1e6) | 0) / 1e6),
  'a cent is lost for a quantity of seven': totals(({ totalPrice, quantity }) =>
    quantity % 7 === 0 ? rounded(totalPrice - 0.01) : totalPrice,
  ),
  'a total has single precision': totals(({ totalPrice }) => Math.fround(totalPrice)),
  'a total has four digits': totals(({ totalPrice }) => Number(totalPrice.toPrecision(4))),
  'the second batch has quantities of the first': prices((all) => {
    for (const [index, price] of all.entries())
      if (price.totalPrice) price.totalPrice = sumOf(price, all[index % 50].quantity)
  }),
  'prices are remembered across stores': remembered(
    isPrices,
    ({ json }, { itemId, quantity }) => `${itemId}|${quantity}|${json.memberNumber}`,
  ),
  'prices are remembered across quantities': remembered(
    isPrices,
    ({ json }, { itemId, storeId }) => `${itemId}|${storeId}|${json.memberNumber}`,
  ),
  'a member loses the quantity': prices((all, { memberNumber }) => {
    for (const price of memberNumber === MEMBER ? all : [])
      if (price.totalPrice) price.totalPrice = sumOf(price, 1)
  }),
  'long answers are cut off': text(isPrices, (json) => json.slice(0, 4000)),
  'single quotes in place of double ones': text(isStore, (json) => json.replaceAll('"', "'")),
  'a fault at every eleventh price request': everyEleventh(),
}
