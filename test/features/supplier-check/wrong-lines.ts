import { MEMBER, NOT_IN_RANGE, type Tamper } from './model-supplier.ts'
import { type Case, eachPrice, eachPriced, isPrices, onGood, status, unpriced } from './tampers.ts'

type Asked = Parameters<Tamper>[0]
type Item = { errorCode?: string; itemId: string; storeId: string }
const has = (code: string) => (asked: Asked, body: Item[]) =>
  isPrices(asked) && body.some(({ errorCode }) => errorCode === code)
/** Another status for a request that has a line with this error. */
const failing =
  (code: string, to: number): Tamper =>
  (asked, answer) => {
    if (answer.status === 200 && has(code)(asked, Array.isArray(answer.body) ? answer.body : []))
      answer.status = to
  }
/** Leaves the lines out that have this error. */
const dropping = (code: string) =>
  onGood(isPrices, (answer) => {
    answer.body = answer.body.filter(({ errorCode }: Item) => errorCode !== code)
  })
/** A price without an error where this error is right. */
const pricing = (code: string) =>
  eachPrice((price) => {
    if (price.errorCode !== code) return
    Object.assign(price, { unitPrice: 1, discount: 0, totalPrice: price.quantity })
    delete price.errorCode
    delete price.errorMessage
  })
/** Members have prices of their own, and after them whoever asks for one line. */
function rememberedMember(): Tamper {
  let isMember = false
  return onGood(isPrices, ({ body }, { json }) => {
    if (json.memberNumber === MEMBER) isMember = true
    else if (!isMember || body.length > 1) return
    for (const price of body) {
      if (price.unitPrice === null) continue
      price.unitPrice = 0.5
      price.totalPrice = 0.5 * price.quantity - price.discount
    }
  })
}

function wrongTotalsElsewhere(): Tamper {
  let first: string | undefined
  return eachPriced((price) => {
    first ??= price.storeId
    if (price.storeId !== first) price.totalPrice += 1
  })
}

/** Suppliers with a fault in lines that cannot be priced, in many lines, or in member numbers. */
export const WRONG_LINES: Record<string, Case[]> = {
  'prices.unknown-item': [
    ['nothing for an unknown item', dropping('item_unknown')],
    ['400 for an unknown item', failing('item_unknown', 400)],
    ['a price for an unknown item', pricing('item_unknown')],
    [
      '404 if no line has a price',
      (asked, answer) => {
        const lines: Item[] = isPrices(asked) && Array.isArray(answer.body) ? answer.body : []
        if (lines.length > 0 && lines.every(({ errorCode }) => errorCode)) answer.status = 404
      },
    ],
  ],
  'prices.beside-errors': [
    [
      'no prices beside an error',
      onGood(isPrices, ({ body }) => {
        const unknown = body.filter(({ errorCode }: Item) => errorCode === 'item_unknown').length
        if (unknown > 0 && unknown < 5) for (const price of body) Object.assign(price, unpriced)
      }),
    ],
    [
      'the prices of other lines beside an error',
      onGood(isPrices, ({ body }) => {
        const priced = body.filter(({ errorCode }: Item) => !errorCode)
        if (priced.length < 2 || priced.length === body.length || body.length > 10) return
        const { unitPrice, totalPrice } = priced[0]
        Object.assign(priced[0], { unitPrice: priced[1].unitPrice, totalPrice: priced[1].totalPrice })
        Object.assign(priced[1], { unitPrice, totalPrice })
      }),
    ],
  ],
  'prices.error': [
    [
      'no error beside null',
      eachPrice((price) => {
        delete price.errorCode
        delete price.errorMessage
      }),
    ],
  ],
  'prices.error-names': [
    [
      'other names of the error',
      eachPrice((price) => {
        if (price.errorCode) Object.assign(price, { code: price.errorCode, text: price.errorMessage })
        delete price.errorCode
        delete price.errorMessage
      }),
    ],
  ],
  'prices.code-and-message': [
    [
      'a line without a code and a message for an unknown store',
      eachPrice((price) => {
        if (price.errorCode !== 'store_unknown') return
        delete price.errorCode
        delete price.errorMessage
      }),
    ],
    [
      'no error message',
      eachPrice((price) => {
        delete price.errorMessage
      }),
    ],
    [
      'an empty error code',
      eachPrice((price) => {
        if (price.errorCode) price.errorCode = ''
      }),
    ],
    [
      'an error code that is a number',
      eachPrice((price) => {
        if (price.errorCode) price.errorCode = 17
      }),
    ],
    [
      'an error that is an object',
      eachPrice((price) => {
        if (price.errorCode) price.error = { code: price.errorCode, text: price.errorMessage }
        delete price.errorCode
        delete price.errorMessage
      }),
    ],
  ],
  'prices.null': [
    [
      'empty texts instead of null',
      eachPrice((price) => {
        for (const name of ['unitPrice', 'discount', 'totalPrice']) price[name] ??= ''
      }),
    ],
  ],
  'prices.names': [
    [
      'price and total',
      eachPrice((price) => {
        const { unitPrice, totalPrice } = price
        delete price.unitPrice
        delete price.totalPrice
        Object.assign(price, { price: unitPrice, total: totalPrice })
      }),
    ],
    [
      'names with underscores',
      eachPrice((price) => {
        price.unit_price = price.unitPrice
        delete price.unitPrice
      }),
    ],
  ],
  'prices.odd-item': [
    [
      'a price for a code with a wildcard',
      onGood(isPrices, (answer, { json }) => {
        for (const [index, { itemId, storeId, quantity }] of json.items.entries())
          if (itemId.endsWith('%'))
            answer.body[index] = { itemId, storeId, quantity, unitPrice: 5.14, discount: 0, totalPrice: 5.14 }
      }),
    ],
  ],
  'prices.one-line': [
    [
      'an object in place of an array of one',
      onGood(isPrices, (answer) => {
        if (answer.body.length === 1) answer.body = answer.body[0]
      }),
    ],
  ],
  'prices.duplicate-totals': [
    [
      'totals of all lines of an item',
      onGood(isPrices, ({ body }, { json }) => {
        const { items } = json
        if (items.length < 2 || items[0].itemId !== items[1].itemId) return
        const all = items.reduce((sum: number, line: { quantity: number }) => sum + line.quantity, 0)
        for (const price of body)
          if (price.unitPrice !== null) price.totalPrice = Number((price.unitPrice * all).toFixed(6))
      }),
    ],
  ],
  'prices.many-totals': [
    [
      'totals of one piece after a hundred lines',
      onGood(isPrices, ({ body }) => {
        for (const price of body.slice(100)) if (price.unitPrice !== null) price.totalPrice = price.unitPrice
      }),
    ],
  ],
  'prices.overlap': [
    [
      'the total of another request',
      onGood(isPrices, ({ body }) => {
        if (body.length === 1 && body[0].quantity === 5 && body[0].unitPrice !== null) body[0].totalPrice += 1
      }),
    ],
  ],
  'prices.later-token': [
    [
      'wrong totals with the fifth token and later ones',
      onGood(isPrices, ({ body }, { authorization = '', tokens }) => {
        if ([...tokens.keys()].indexOf(authorization.replace('Bearer ', '')) < 4) return
        for (const price of body) if (price.unitPrice !== null) price.totalPrice += 1
      }),
    ],
  ],
  'member.own': [['the price of a member for everybody', rememberedMember()]],
  'member.lines': [
    [
      'no elements for unknown items of a member',
      onGood(isPrices, (answer, { json }) => {
        if (json.memberNumber !== MEMBER || answer.body.length > 20) return
        answer.body = answer.body.filter(({ errorCode }: Item) => errorCode !== 'item_unknown')
      }),
    ],
  ],
  'prices.all-amounts': [
    [
      'a total as text after 500 lines',
      onGood(isPrices, ({ body }) => {
        const last = body.length > 500 ? body.at(-1) : undefined
        if (last) last.totalPrice = String(last.totalPrice)
      }),
    ],
  ],
  'prices.all-errors': [
    [
      'no price and no error after 500 lines',
      onGood(isPrices, ({ body }) => {
        const last = body.length > 500 ? body.at(-1) : undefined
        if (last) Object.assign(last, { unitPrice: null, discount: null, totalPrice: null })
      }),
    ],
  ],
  'prices.odd-store': [
    [
      'a price at a store whose id only begins like one',
      eachPrice((price) => {
        if (price.errorCode !== 'store_unknown' || !/xyz$/.test(price.storeId)) return
        Object.assign(price, { unitPrice: 1, discount: 0, totalPrice: price.quantity })
        delete price.errorCode
        delete price.errorMessage
      }),
    ],
    [
      '500 for a long store id',
      (asked, answer) => {
        const lines: Item[] = isPrices(asked) && Array.isArray(answer.body) ? answer.body : []
        if (lines.some(({ storeId }) => storeId.length > 300)) answer.status = 500
      },
    ],
  ],
  'prices.other-stores': [['wrong totals at other stores than the first', wrongTotalsElsewhere()]],
  'prices.error-alone': [
    [
      'a price beside an error',
      eachPrice((price) => {
        price.unitPrice ??= 5
      }),
    ],
    [
      'an error beside prices',
      eachPriced((price) => {
        price.errorCode = 'odd'
      }),
    ],
    [
      'no discount',
      eachPriced((price) => {
        if (price.discount === 0) delete price.discount
      }),
    ],
  ],
  'prices.near-item': [
    [
      'a price for a code with a suffix',
      onGood(isPrices, (answer, { json }) => {
        for (const [index, { itemId, storeId, quantity }] of json.items.entries())
          if (/^FT-1-/.test(itemId))
            answer.body[index] = { itemId, storeId, quantity, unitPrice: 5.14, discount: 0, totalPrice: 5.14 }
      }),
    ],
  ],
  'prices.cut-item': [
    [
      'the price of an item for a code that is cut off',
      onGood(isPrices, (answer, { json }) => {
        for (const [index, { itemId, storeId, quantity }] of json.items.entries())
          if (itemId === 'FT-' || itemId === 'FT')
            answer.body[index] = { ...answer.body[0], itemId, storeId, quantity }
      }),
    ],
  ],
  'prices.unknown-store': [
    ['a price at an unknown store', pricing('store_unknown')],
    ['404 for an unknown store', failing('store_unknown', 404)],
  ],
  'prices.two-stores': [
    [
      'one answer for all lines of an item',
      onGood(isPrices, ({ body }) => {
        const last = new Map<string, Item>(body.map((price: Item) => [price.itemId, price]))
        for (const price of body) {
          const { storeId, quantity } = price
          const other = last.get(price.itemId) as Item
          if (other.storeId !== storeId)
            Object.assign(price, { errorCode: undefined, errorMessage: undefined }, other, {
              storeId,
              quantity,
            })
        }
      }),
    ],
  ],
  'prices.not-in-range': [
    ['400 for an item that the store does not sell', failing('item_not_in_range', 400)],
    ['a price for an item that the store does not sell', pricing('item_not_in_range')],
    [
      'nothing for an item that the store does not sell',
      onGood(isPrices, (answer) => {
        answer.body = answer.body.filter(({ itemId }: Item) => itemId !== NOT_IN_RANGE.itemId)
      }),
    ],
  ],
  'prices.beside-not-in-range': [
    [
      'no prices beside an item that the store does not sell',
      onGood(isPrices, ({ body }) => {
        if (body.some(({ errorCode }: Item) => errorCode === 'item_not_in_range'))
          for (const price of body) Object.assign(price, unpriced)
      }),
    ],
  ],
  'prices.quantity-error': [
    ['a price for a quantity of 0', pricing('quantity_invalid')],
    ['400 for a quantity of 0', failing('quantity_invalid', 400)],
  ],
  'prices.echo': [
    [
      'another quantity',
      eachPrice((price) => {
        price.quantity = 1
      }),
    ],
  ],
  'prices.order': [
    ['the reverse order', onGood(isPrices, ({ body }) => body.reverse())],
    [
      'items by code',
      onGood(isPrices, ({ body }) => body.sort((a: Item, b: Item) => (a.itemId < b.itemId ? -1 : 1))),
    ],
    [
      'errors last',
      onGood(isPrices, ({ body }) =>
        body.sort((a: Item, b: Item) => Number(!!a.errorCode) - Number(!!b.errorCode)),
      ),
    ],
  ],
  'prices.duplicates': [
    [
      'duplicates that are merged',
      onGood(isPrices, (answer) => {
        answer.body = [...new Map(answer.body.map((item: Item) => [JSON.stringify(item), item])).values()]
      }),
    ],
  ],
  'prices.line-limit': [
    [
      '413 for more than 100 lines',
      onGood(isPrices, (answer, { json }) => {
        if (json.items.length > 100) answer.status = 413
      }),
    ],
  ],
  'prices.many': [
    ['an answer to the first 100 lines only', onGood(isPrices, ({ body }) => body.splice(100))],
    [
      'prices for the first 100 lines only',
      onGood(isPrices, ({ body }) => {
        for (const price of body.slice(100)) Object.assign(price, unpriced)
      }),
    ],
  ],
  'prices.empty': [
    [
      '400 for no lines',
      onGood(isPrices, (answer, { json }) => {
        if (json.items.length === 0) answer.status = 400
      }),
    ],
  ],
  'prices.input': [['200 for a broken body', status(isPrices, 400, 200, [])]],
  'member.optional': [
    [
      '400 without a member number',
      (asked, answer) => {
        if (isPrices(asked) && answer.status === 200 && asked.json.memberNumber === undefined)
          answer.status = 400
      },
    ],
  ],
  'member.null': [
    [
      '400 for memberNumber null',
      (asked, answer) => {
        if (isPrices(asked) && asked.json?.memberNumber === null) answer.status = 400
      },
    ],
  ],
  'member.unknown': [['500 for an unknown member', failing('member_unknown', 500)]],
  'member.unknown-lines': [['400 for an unknown member', failing('member_unknown', 400)]],
  'member.large-quantity': [
    [
      'a wrong total for many pieces for a member',
      onGood(isPrices, ({ body }, { json }) => {
        for (const price of json.memberNumber === MEMBER ? body : [])
          if (price.quantity > 100 && price.totalPrice) price.totalPrice += 1
      }),
    ],
  ],
  'member.known': [
    [
      'a wrong total for a member',
      onGood(isPrices, ({ body }, { json }) => {
        for (const price of json.memberNumber === MEMBER ? body : [])
          if (price.totalPrice) price.totalPrice += 1
      }),
    ],
  ],
}
