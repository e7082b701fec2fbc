import {
  dropping,
  eachPrice,
  halfPriced,
  isPrices,
  isStore,
  onGood,
  status,
  type Tamper,
} from './wrong-suppliers.ts'

/** Ways to break the rules of prices. */
export const PRICE_WAYS: Record<string, [string, Tamper][]> = {
  'prices.array': [
    [
      'prices in an object',
      onGood(isPrices, (answer) => {
        answer.body = { items: answer.body }
      }),
    ],
    [
      'a missing item',
      onGood(isPrices, ({ body }) => {
        body.pop()
      }),
    ],
    [
      'duplicates that are merged',
      onGood(isPrices, (answer) => {
        answer.body = [...new Map(answer.body.map((item: object) => [JSON.stringify(item), item])).values()]
      }),
    ],
  ],
  'prices.empty': [
    [
      '400 for no items',
      onGood(isPrices, (answer, { json }) => {
        if (json.items.length === 0) answer.status = 400
      }),
    ],
  ],
  'prices.order': [
    ['the order changed', onGood(isPrices, ({ body }) => body.reverse())],
    [
      'a swapped first and last item',
      onGood(isPrices, (answer) => {
        if (answer.body.length > 2)
          answer.body = [answer.body.at(-1), ...answer.body.slice(1, -1), answer.body[0]]
      }),
    ],
    [
      'another quantity',
      eachPrice((item) => {
        item.quantity = 1
      }),
    ],
  ],
  'prices.fields': [
    [
      'prices as text',
      eachPrice((item) => {
        if (item.unitPrice !== null) item.unitPrice = String(item.unitPrice)
      }),
    ],
    [
      'no discount',
      eachPrice((item) => {
        delete item.discount
      }),
    ],
    [
      'a negative discount',
      eachPrice((item) => {
        if (item.unitPrice !== null) item.discount = -0.5
      }),
    ],
    [
      'a unit price beside an error',
      eachPrice((item) => {
        item.unitPrice ??= 5
      }),
    ],
    [
      'a price that overflows a number',
      onGood(isPrices, (answer) => {
        answer.body = JSON.stringify(answer.body).replaceAll(/"unitPrice":[\d.]+/g, '"unitPrice":1e400')
      }),
    ],
  ],
  'prices.error-names': [
    [
      'an error code beside prices',
      eachPrice((item) => {
        if (item.unitPrice !== null) item.errorCode = 'odd'
      }),
    ],
    [
      'no prices and no error code',
      eachPrice((item) => {
        delete item.errorCode
      }),
    ],
    [
      'an error without a message',
      eachPrice((item) => {
        delete item.errorMessage
      }),
    ],
  ],
  'prices.total': [
    [
      'a total without the quantity',
      eachPrice((item) => {
        if (item.unitPrice !== null) item.totalPrice = item.unitPrice ?? null
      }),
    ],
    [
      'a total that is a cent off',
      eachPrice((item) => {
        if (item.totalPrice !== null) item.totalPrice = Number(item.totalPrice) + 0.01
      }),
    ],
    [
      'a total of binary fractions',
      eachPrice((item) => {
        if (item.totalPrice !== null) item.totalPrice = Number(item.unitPrice) * Number(item.quantity) + 1e-9
      }),
    ],
  ],
  'prices.known': [
    [
      'no price for a priced item',
      eachPrice((item) =>
        Object.assign(item, {
          unitPrice: null,
          discount: null,
          totalPrice: null,
          errorCode: 'x',
          errorMessage: 'x',
        }),
      ),
    ],
  ],
  'prices.item-error': [
    ['nothing for what does not exist', dropping('item_unknown')],
    ['half a price for what does not exist', halfPriced('item_unknown')],
    [
      'an error item that fails the call',
      (asked, answer) => {
        if (
          isPrices(asked) &&
          answer.status === 200 &&
          answer.body.some(({ errorCode }: { errorCode?: string }) => errorCode === 'item_unknown')
        )
          answer.status = 422
      },
    ],
    [
      'a price for an unknown item',
      eachPrice((item) => {
        if (item.errorCode === 'item_unknown')
          Object.assign(item, { unitPrice: 1, discount: 0, totalPrice: item.quantity, errorCode: null })
      }),
    ],
  ],
  'prices.store-error': [
    ['nothing for an unknown store', dropping('store_unknown')],
    ['half a price at an unknown store', halfPriced('store_unknown')],
    [
      '404 for an unknown store',
      (asked, answer) => {
        if (
          isPrices(asked) &&
          answer.status === 200 &&
          answer.body.some(({ errorCode }: { errorCode?: string }) => errorCode === 'store_unknown')
        )
          answer.status = 404
      },
    ],
  ],
  'prices.quantity-error': [
    ['nothing for quantity 0', dropping('quantity_invalid')],
    ['half a price for quantity 0', halfPriced('quantity_invalid')],
    [
      '400 for quantity 0',
      (asked, answer) => {
        if (
          isPrices(asked) &&
          answer.status === 200 &&
          answer.body.some(({ quantity }: { quantity?: number }) => quantity === 0)
        )
          answer.status = 400
      },
    ],
  ],
  'prices.member': [
    [
      'no prices for a member',
      onGood(isPrices, (answer, { json }) => {
        if (json.memberNumber) answer.body = []
      }),
    ],
    [
      '400 for a member number',
      (asked, answer) => {
        if (isPrices(asked) && asked.json?.memberNumber) answer.status = 400
      },
    ],
  ],
  'prices.input': [['200 for a broken body', status(isPrices, 400, 200, [])]],
  json: [
    [
      'JSON that is called a page',
      onGood(isPrices, ({ headers }) => {
        headers['content-type'] = 'text/html'
      }),
    ],
    [
      'JSON without a type',
      onGood(isStore, ({ headers }) => {
        delete headers['content-type']
      }),
    ],
  ],
  'no-faults': [['500 for a broken body', status(isPrices, 400, 500)]],
}
