import { type Case, eachPrice, eachPriced, isPrices, onGood, together, unpriced } from './tampers.ts'

// biome-ignore lint/suspicious/noExplicitAny: a line of any shape
type Any = any

/** Prices that are given beside an error too. */
const pricesBesideErrors = eachPrice((price) => {
  if (price.errorCode) Object.assign(price, { unitPrice: 5, discount: 0, totalPrice: 5 * price.quantity })
})

const otherErrorShape = eachPrice((price) => {
  if (price.errorCode) Object.assign(price, { kind: price.errorCode, words: price.errorMessage })
  delete price.errorCode
  delete price.errorMessage
})

const otherNames = eachPrice((price) => {
  Object.assign(price, { sku: price.itemId, branch: price.storeId, qty: String(price.quantity) })
  for (const name of ['itemId', 'storeId', 'quantity']) delete price[name]
})

const without = (...names: string[]) =>
  eachPrice((price) => {
    for (const name of names) if (price[name] === null || price[name] === 0) delete price[name]
  })

/** Suppliers that are right, and answer price requests in another way. */
export const RIGHT_PRICES: Case[] = [
  [
    'another price request',
    (asked, answer) => {
      if (isPrices(asked) && asked.issuedAt) answer.status = 422
    },
  ],
  [
    'another price request, of which it understands no line',
    eachPrice((price) =>
      Object.assign(price, {
        unitPrice: null,
        discount: null,
        totalPrice: null,
        errorCode: 'line_invalid',
        errorMessage: 'No item.',
      }),
    ),
  ],
  [
    'items that the first store does not sell',
    eachPriced((price) => {
      if (price.storeId === 'sydney') Object.assign(price, unpriced)
    }),
  ],
  [
    'negative discounts',
    eachPriced((price) => {
      price.discount -= 0.5
      price.totalPrice = Number((price.totalPrice + 0.5).toFixed(6))
    }),
  ],
  ['prices beside an error', pricesBesideErrors],
  ['prices beside an error of another shape', together(pricesBesideErrors, otherErrorShape)],
  ['another error shape', otherErrorShape],
  [
    'a state of each line and its reason',
    together(
      eachPrice((price) => {
        price.status = price.errorCode ? 'not_found' : 'ok'
        if (price.errorCode) price.reason = price.errorMessage
      }),
      eachPrice((price) => {
        delete price.errorCode
        delete price.errorMessage
      }),
    ),
  ],
  [
    'an empty error beside prices',
    eachPriced((price) => {
      Object.assign(price, { errorCode: '', errorMessage: null })
    }),
  ],
  ['no field in place of null or 0', without('unitPrice', 'discount', 'totalPrice')],
  [
    'another order, with lines repeated under other names',
    together(
      otherNames,
      onGood(isPrices, ({ body }) => body.reverse()),
    ),
  ],
  [
    'totals rounded to cents',
    eachPriced((price) => {
      price.totalPrice = Number(price.totalPrice.toFixed(2))
    }),
  ],
  [
    'whole quantities up to 20',
    eachPriced((price) => {
      if (!Number.isInteger(price.quantity) || price.quantity > 20)
        Object.assign(price, {
          unitPrice: null,
          discount: null,
          totalPrice: null,
          errorCode: 'quantity',
          errorMessage: 'No.',
        })
    }),
  ],
  [
    'at most 100 lines',
    onGood(isPrices, (answer, { json }) => {
      if (json.items.length > 100) answer.status = 413
    }),
  ],
  [
    'one element for the same item',
    onGood(isPrices, (answer) => {
      answer.body = [...new Map(answer.body.map((price: Any) => [price.itemId, price])).values()]
    }),
  ],
  [
    '400 for no lines, null and a wrong quantity',
    (asked, answer) => {
      if (!isPrices(asked) || !Array.isArray(asked.json?.items)) return
      const { items = [], memberNumber } = asked.json
      if (items.length === 0 || memberNumber === null || items.some(({ quantity }: Any) => quantity <= 0))
        answer.status = 400
    },
  ],
  [
    '404 for an unknown member',
    (asked, answer) => {
      if (
        isPrices(asked) &&
        answer.status === 200 &&
        answer.body.some((price: Any) => price.errorCode === 'member_unknown')
      )
        answer.status = 404
    },
  ],
  [
    'JSON with a byte order mark and another type',
    (_asked, answer) => {
      if (answer.status !== 200) return
      answer.body = `\ufeff${JSON.stringify(answer.body)}`
      answer.headers['content-type'] = 'text/json; charset=UTF-8'
    },
  ],
]
