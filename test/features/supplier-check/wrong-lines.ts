import { type Any, type Asked, MEMBER, NOT_IN_RANGE, type Tamper } from './model-supplier.ts'
import {
  body,
  type Cases,
  eachFailed,
  eachPrice,
  eachPriced,
  isPrices,
  noError,
  noPrice,
  refusing,
  rounded,
  status,
  unpriced,
} from './tampers.ts'

/** Changes the lines of an answer as a whole; in place, or by those that it returns. */
const lines = (change: (prices: Any[], request: Any, asked: Asked) => unknown) =>
  body(isPrices, (prices, asked) => change(prices, asked.json, asked) ?? prices)
const hasError =
  (code: string) =>
  ({ errorCode }: Any) =>
    errorCode === code
/** Another status for an answer with such lines. */
const failing =
  (to: number, is: (prices: Any[]) => boolean): Tamper =>
  (asked, answer) => {
    if (isPrices(asked) && answer.status === 200 && is(answer.body)) answer.status = to
  }
const failingFor = (code: string, to: number) => failing(to, (prices) => prices.some(hasError(code)))
/** Leaves the lines out that have this error. */
const dropping = (code: string) => lines((prices) => prices.filter((price) => !hasError(code)(price)))
const priced = (price: Any) => ({ unitPrice: 1, discount: 0, totalPrice: price.quantity, ...noError })
/** A price without an error where this error is right. */
const pricing = (code: string, is: (price: Any) => boolean = () => true) =>
  eachPrice((price) => (hasError(code)(price) && is(price) ? priced(price) : {}))
/** A dollar too much for these lines. */
const wrongTotals = (is: (price: Any, asked: Asked) => boolean) =>
  lines((prices, _request, asked) => {
    for (const price of prices) if (price.totalPrice && is(price, asked)) price.totalPrice += 1
  })
/** Prices lines of the request as if they were of a known item. */
const pricingItems = (is: (itemId: string) => boolean) =>
  lines((prices, { items }) =>
    items.map(({ itemId, storeId, quantity }: Any, index: number) =>
      is(itemId)
        ? { itemId, storeId, quantity, unitPrice: 5.14, discount: 0, totalPrice: 5.14 }
        : prices[index],
    ),
  )
/** Another end of an answer with more than 500 lines. */
const lastOfMany = (change: (last: Any) => object) =>
  lines((prices) => {
    const last = prices.length > 500 ? prices.at(-1) : undefined
    if (last) Object.assign(last, change(last))
  })

/** Members have prices of their own, and after them whoever asks for one line. */
function rememberedMember(): Tamper {
  let isMember = false
  return lines((prices, { memberNumber }) => {
    if (memberNumber === MEMBER) isMember = true
    else if (!isMember || prices.length > 1) return
    for (const price of prices)
      if (price.unitPrice !== null)
        Object.assign(price, { unitPrice: 0.5, totalPrice: 0.5 * price.quantity - price.discount })
  })
}

function wrongTotalsElsewhere(): Tamper {
  let first: string | undefined
  return eachPriced(({ storeId, totalPrice }) => {
    first ??= storeId
    return storeId === first ? {} : { totalPrice: totalPrice + 1 }
  })
}

/** Suppliers with a fault in lines that cannot be priced. */
const WRONG_ERRORS: Record<string, Cases> = {
  'prices.unknown-item': {
    'nothing for an unknown item': dropping('item_unknown'),
    '400 for an unknown item': failingFor('item_unknown', 400),
    'a price for an unknown item': pricing('item_unknown'),
    '404 if no line has a price': failing(
      404,
      (prices) => prices.length > 0 && prices.every(({ errorCode }) => errorCode),
    ),
  },
  'prices.beside-errors': {
    'no prices beside an error': lines((prices) => {
      const unknown = prices.filter(hasError('item_unknown')).length
      return unknown > 0 && unknown < 5 ? prices.map((price) => ({ ...price, ...unpriced })) : prices
    }),
    'the prices of other lines beside an error': lines((prices) => {
      const [one, other, ...more] = prices.filter(({ errorCode }) => !errorCode)
      if (!other || more.length + 2 === prices.length || prices.length > 10) return
      const { unitPrice, totalPrice } = one
      Object.assign(one, { unitPrice: other.unitPrice, totalPrice: other.totalPrice })
      Object.assign(other, { unitPrice, totalPrice })
    }),
  },
  'prices.error': { 'no error beside null': eachPrice(() => noError) },
  'prices.error-names': {
    'other names of the error': eachFailed(({ errorCode: code, errorMessage: text }) => ({
      code,
      text,
      ...noError,
    })),
  },
  'prices.code-and-message': {
    'a line without a code and a message for an unknown store': eachPrice((price) =>
      hasError('store_unknown')(price) ? noError : {},
    ),
    'no error message': eachPrice(() => ({ errorMessage: undefined })),
    'an empty error code': eachFailed(() => ({ errorCode: '' })),
    'an error code that is a number': eachFailed(() => ({ errorCode: 17 })),
    'an error that is an object': eachFailed(({ errorCode: code, errorMessage: text }) => ({
      error: { code, text },
      ...noError,
    })),
  },
  'prices.error-alone': {
    'a price beside an error': eachPrice(({ unitPrice }) => ({ unitPrice: unitPrice ?? 5 })),
    'an error beside prices': eachPriced(() => ({ errorCode: 'odd' })),
    'no discount': eachPriced(({ discount }) => ({ discount: discount || undefined })),
  },
  'prices.near-item': { 'a price for a code with a suffix': pricingItems((itemId) => /^FT-1-/.test(itemId)) },
  'prices.odd-item': { 'a price for a code with a wildcard': pricingItems((itemId) => itemId.endsWith('%')) },
  'prices.cut-item': {
    'the price of an item for a code that is cut off': pricingItems((itemId) => /^FT-?$/.test(itemId)),
  },
  'prices.unknown-store': {
    'a price at an unknown store': pricing('store_unknown'),
    '404 for an unknown store': failingFor('store_unknown', 404),
  },
  'prices.odd-store': {
    'a price at a store whose id only begins like one': pricing('store_unknown', ({ storeId }) =>
      /xyz$/.test(storeId),
    ),
    '500 for a long store id': failing(500, (prices) => prices.some(({ storeId }) => storeId.length > 300)),
  },
  'prices.not-in-range': {
    '400 for an item that the store does not sell': failingFor('item_not_in_range', 400),
    'a price for an item that the store does not sell': pricing('item_not_in_range'),
    'nothing for an item that the store does not sell': lines((prices) =>
      prices.filter(({ itemId }) => itemId !== NOT_IN_RANGE.itemId),
    ),
  },
  'prices.beside-not-in-range': {
    'no prices beside an item that the store does not sell': lines((prices) =>
      prices.some(hasError('item_not_in_range'))
        ? prices.map((price) => ({ ...price, ...unpriced }))
        : prices,
    ),
  },
  'prices.quantity-error': {
    'a price for a quantity of 0': pricing('quantity_invalid'),
    '400 for a quantity of 0': failingFor('quantity_invalid', 400),
  },
}

/** Suppliers with a fault in the lines of an answer. */
const WRONG_ANSWERS: Record<string, Cases> = {
  'prices.null': {
    'empty texts instead of null': eachPrice(({ unitPrice, discount, totalPrice }) => ({
      unitPrice: unitPrice ?? '',
      discount: discount ?? '',
      totalPrice: totalPrice ?? '',
    })),
  },
  'prices.names': {
    'price and total': eachPrice(({ unitPrice: price, totalPrice: total }) => ({
      price,
      total,
      unitPrice: undefined,
      totalPrice: undefined,
    })),
    'names with underscores': eachPrice(({ unitPrice }) => ({ unit_price: unitPrice, unitPrice: undefined })),
  },
  'prices.one-line': {
    'an object in place of an array of one': lines((prices) => (prices.length === 1 ? prices[0] : prices)),
  },
  'prices.duplicate-totals': {
    'totals of all lines of an item': lines((prices, { items }) => {
      if (items.length < 2 || items[0].itemId !== items[1].itemId) return
      const all = items.reduce((sum: number, { quantity }: Any) => sum + quantity, 0)
      for (const price of prices)
        if (price.unitPrice !== null) price.totalPrice = rounded(price.unitPrice * all)
    }),
  },
  'prices.many-totals': {
    'totals of one piece after a hundred lines': lines((prices) => {
      for (const price of prices.slice(100)) if (price.unitPrice !== null) price.totalPrice = price.unitPrice
    }),
  },
  'prices.overlap': {
    'the total of another request': lines((prices) => {
      if (prices.length === 1 && prices[0].quantity === 5 && prices[0].totalPrice) prices[0].totalPrice += 1
    }),
  },
  'prices.later-token': {
    'wrong totals with the fifth token and later ones': wrongTotals(
      (_price, { authorization = '', tokens }) =>
        [...tokens.keys()].indexOf(authorization.replace('Bearer ', '')) >= 4,
    ),
  },
  'prices.all-amounts': {
    'a total as text after 500 lines': lastOfMany(({ totalPrice }) => ({ totalPrice: String(totalPrice) })),
  },
  'prices.all-errors': { 'no price and no error after 500 lines': lastOfMany(() => noPrice) },
  'prices.other-stores': { 'wrong totals at other stores than the first': wrongTotalsElsewhere() },
  'prices.two-stores': {
    'one answer for all lines of an item': lines((prices) => {
      const last = new Map(prices.map((price) => [price.itemId, price]))
      return prices.map((price) => {
        const { itemId, storeId, quantity } = price
        const other = last.get(itemId)
        return other.storeId === storeId ? price : { ...other, storeId, quantity }
      })
    }),
  },
  'prices.echo': { 'another quantity': eachPrice(() => ({ quantity: 1 })) },
  'prices.order': {
    'the reverse order': lines((prices) => prices.reverse()),
    'items by code': lines((prices) => prices.sort((a, b) => (a.itemId < b.itemId ? -1 : 1))),
    'errors last': lines((prices) => prices.sort((a, b) => Number(!!a.errorCode) - Number(!!b.errorCode))),
  },
  'prices.duplicates': {
    'duplicates that are merged': lines((prices) => [
      ...new Map(prices.map((price) => [JSON.stringify(price), price])).values(),
    ]),
  },
  'prices.line-limit': { '413 for more than 100 lines': failing(413, (prices) => prices.length > 100) },
  'prices.many': {
    'an answer to the first 100 lines only': lines((prices) => prices.slice(0, 100)),
    'prices for the first 100 lines only': lines((prices) => {
      for (const price of prices.slice(100)) Object.assign(price, unpriced)
    }),
  },
  'prices.empty': { '400 for no lines': failing(400, (prices) => prices.length === 0) },
  'prices.input': { '200 for a broken body': status(isPrices, 400, 200, []) },
}

/** Suppliers with a fault in member numbers. */
const WRONG_MEMBERS: Record<string, Cases> = {
  'member.own': { 'the price of a member for everybody': rememberedMember() },
  'member.lines': {
    'no elements for unknown items of a member': lines((prices, { memberNumber }) =>
      memberNumber !== MEMBER || prices.length > 20
        ? prices
        : prices.filter((price) => !hasError('item_unknown')(price)),
    ),
  },
  'member.optional': {
    '400 without a member number': (asked, answer) => {
      if (isPrices(asked) && answer.status === 200 && asked.json.memberNumber === undefined)
        answer.status = 400
    },
  },
  'member.null': {
    '400 for memberNumber null': refusing(
      (asked) => isPrices(asked) && asked.json?.memberNumber === null,
      400,
    ),
  },
  'member.unknown': { '500 for an unknown member': failingFor('member_unknown', 500) },
  'member.unknown-lines': { '400 for an unknown member': failingFor('member_unknown', 400) },
  'member.large-quantity': {
    'a wrong total for many pieces for a member': wrongTotals(
      ({ quantity }, { json }) => json.memberNumber === MEMBER && quantity > 100,
    ),
  },
  'member.known': {
    'a wrong total for a member': wrongTotals((_price, { json }) => json.memberNumber === MEMBER),
  },
}

export const WRONG_LINES = { ...WRONG_ERRORS, ...WRONG_ANSWERS, ...WRONG_MEMBERS }
