import { type Any, type ModelStore, STORES, storeOf, type Tamper } from './model-supplier.ts'
import {
  body,
  type Cases,
  eachFound,
  eachPrice,
  eachPriced,
  eachStore,
  fields,
  isPrices,
  isSearch,
  isStore,
  isToken,
  onGood,
  open,
  refusing,
  rounded,
  searchAs,
  status,
  together,
  unpriced,
} from './tampers.ts'

const cents = (amount: number) => Math.round(rounded(amount) * 100) / 100
type Price = Record<'unitPrice' | 'quantity' | 'discount', number> & { storeId: string }
/** Another unit price or discount, and the total that follows. */
const prices = (change: (price: Price) => Partial<Price>) =>
  eachPriced((price) => {
    const { unitPrice, discount } = { ...price, ...change(price) }
    return { unitPrice, discount, totalPrice: rounded(unitPrice * price.quantity - discount) }
  })
/** Another unit price, by the number of the price request. */
function pricesByRequest(
  change: (unitPrice: number, request: number) => number,
  counts = (_lines: number) => true,
): Tamper {
  let requests = 0
  const count = onGood(isPrices, (_answer, { json }) => {
    if (counts(json.items.length)) requests++
  })
  return together(
    count,
    prices(({ unitPrice }) => ({ unitPrice: cents(change(unitPrice, requests)) })),
  )
}
function eachThirtiethUnavailable(): Tamper {
  let lines = 0
  return eachPriced(() => (lines++ % 31 === 30 ? unpriced : {}))
}
/** Pieces of each item that are left, counted over the lines of a call. */
const stock = (pieces: number) =>
  body(isPrices, (lines: Any[]) => {
    const left = new Map<string, number>()
    return lines.map((line) => {
      const have = left.get(line.itemId) ?? pieces
      if (line.quantity > have) return { ...line, ...unpriced }
      left.set(line.itemId, have - line.quantity)
      return line
    })
  })

/** Tokens of another form. */
const tokensAs = (change: (token: string) => string) =>
  onGood(isToken, ({ body: answer }, { tokens, now }) => {
    tokens.delete(answer.access_token)
    answer.access_token = change(answer.access_token)
    tokens.set(answer.access_token, now())
  })
const found = (change: (stores: Any[]) => unknown) => body(isSearch, change)

/** The model's stores under other ids, apart from the one that does not sell an item. */
const named = (rename: (index: number) => string) => ({
  tamper: () => {},
  stores: STORES.map(
    (store, index): ModelStore => (store.id === 'suva' ? store : { ...store, id: rename(index) }),
  ),
})
const more = (count: number, place: (index: number) => readonly [latitude: number, longitude: number]) => ({
  tamper: () => {},
  stores: [
    ...STORES,
    ...Array.from({ length: count }, (_, index) => storeOf(`more-${index}`, ...place(index), 'UTC')),
  ],
})

/** JSON in another notation. */
const written =
  (write: (json: string) => string): Tamper =>
  (_asked, answer) => {
    if (typeof answer.body !== 'string') answer.body = write(JSON.stringify(answer.body))
  }
const escaped = (letter: string) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`
const reversed = (_name: string, value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).reverse())
    : value

/** Suppliers that are right, and differ from the model in further ways. */
export const RIGHT_OTHERWISE: Cases = {
  'indented and escaped JSON': written(
    (json) => `\r\n${JSON.stringify(JSON.parse(json), null, '\t').replace(/[\u0080-\uffff]/g, escaped)}\n`,
  ),
  'members in reverse order': written((json) => JSON.stringify(JSON.parse(json), reversed)),

  'tokens of 2 kB': tokensAs((token) => `${token}.${'x'.repeat(2048)}`),
  'tokens with signs': tokensAs((token) => `${token}~._-+/==`),
  'tokens that live for 60 s': fields(isToken, { expires_in: 60 }),
  'tokens that live for 4 s': together(
    fields(isToken, { expires_in: 4 }),
    refusing((asked) => !isToken(asked) && asked.ageMs > 4000, 401),
  ),
  'an API for anybody': open(() => true),

  'distances that are half a percent longer': together(
    searchAs((query) => query.set('radius', String(Number(query.get('radius')) / 1.005))),
    eachFound(({ distance }) => ({ distance: distance * 1.005 })),
  ),
  'searches without their edge': (asked, answer) => {
    const radius = Number(/radius=([^&]*)/.exec(asked.path)?.[1])
    found((stores) => stores.filter(({ distance }) => distance < radius))(asked, answer)
  },
  'searches that find one store, not always the nearest': found((stores) => stores.slice(0, 1)),
  '4000 stores': more(4000, (index) => [-38 + (index % 97) / 10, 140 + (index % 89) / 10]),
  'a store at every tenth degree': more(19 * 36, (index) => [
    -90 + 10 * Math.floor(index / 36),
    -180 + 10 * (index % 36),
  ]),
  'stores at both poles': more(
    3,
    (index) => [[-90, 0] as const, [-89.9, 120] as const, [90, 0] as const][index] ?? [0, 0],
  ),
  'ids of stores in Japanese and with marks': named((index) => `店舗-é${index}-😀`),
  'ids of stores with spaces and signs': named((index) => `Store #${index} & Co + 100%?`),
  'ids of stores with slashes': named((index) => `NZ/AU\\${index}/../x`),
  'ids of stores with zeros in front': named((index) => '0'.repeat(index % 4) + (7 + Math.floor(index / 4))),
  'ids of stores that differ in letter case': named((index) =>
    [...'syda'].map((letter, bit) => ((index >> bit) & 1 ? letter.toUpperCase() : letter)).join(''),
  ),
  '404 without a body': status(isStore, 404, 404, ''),
  'ids named storeNumber': eachStore(({ id }) => ({ storeNumber: id, id: undefined })),

  'the second piece at half price': prices(({ unitPrice, quantity }) => ({
    discount: Math.min(rounded(unitPrice * quantity), cents(Math.floor(quantity / 2) * unitPrice * 0.5)),
  })),
  'three for the price of two': prices(({ unitPrice, quantity }) => ({
    discount: cents(Math.floor(quantity / 3) * unitPrice),
  })),
  'packs of two above ten': eachPriced(({ quantity }) =>
    quantity > 10 && quantity % 2 === 1 ? unpriced : {},
  ),
  'one new price during the check': pricesByRequest((price, request) => price * (request > 40 ? 1.02 : 1)),
  'prices that change with each request': pricesByRequest((price, request) => price + (request % 9) * 0.37),
  'two prices in turn for a single line': pricesByRequest(
    (price, request) => price + (request % 2),
    (lines) => lines === 1,
  ),
  'each 30th line that is unavailable for a moment': eachThirtiethUnavailable(),
  'a stock of 300 pieces': stock(300),
  'requests that are refused for a quantity above 10,000': status(
    (asked) => isPrices(asked) && asked.json?.items?.some(({ quantity }: Any) => quantity > 10_000),
    200,
    400,
  ),
  'prices with four places': prices(({ unitPrice }) => ({ unitPrice: rounded(unitPrice + 0.0037) })),
  'four places, and totals in whole cents': together(
    prices(({ unitPrice }) => ({ unitPrice: rounded(unitPrice + 0.0037) })),
    eachPriced(({ totalPrice }) => ({ totalPrice: cents(totalPrice) })),
  ),
  'a lower unit price from ten up': prices(({ unitPrice, quantity }) => ({
    unitPrice: quantity >= 10 ? cents(unitPrice * 0.9) : unitPrice,
  })),
  'a discount from twelve up': prices(({ unitPrice, quantity, discount }) => ({
    discount: quantity >= 12 ? rounded(discount + unitPrice) : discount,
  })),
  'all for free': prices(({ unitPrice, quantity }) => ({ discount: rounded(unitPrice * quantity) })),
  'never a discount': prices(() => ({ discount: 0 })),
  'prices by store': prices(({ unitPrice, storeId }) => ({
    unitPrice: rounded(unitPrice + storeId.length / 10),
  })),
  'list prices for unknown members': onGood(isPrices, (answer, asked) =>
    Object.assign(answer, asked.again({ json: { ...asked.json, memberNumber: undefined } })),
  ),
  'nothing to pay for a quantity of 0': eachPrice(({ quantity, errorCode }) =>
    errorCode === 'quantity_invalid' && quantity === 0
      ? { unitPrice: 5, discount: 0, totalPrice: 0, errorCode: undefined, errorMessage: undefined }
      : {},
  ),
  'a price on application': eachPrice(({ itemId }) =>
    itemId === 'DK-2' ? { ...unpriced, errorCode: 'POA' } : {},
  ),
}
