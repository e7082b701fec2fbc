import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { serve } from '../../support/ports.ts'
import { CALLER } from './support.ts'

interface Asked {
  /** The address of the supplier that is right. */
  base: string
  method: string
  path: string
  form: URLSearchParams
  authorization: string | undefined
  // biome-ignore lint/suspicious/noExplicitAny: a body of any shape
  json: any
}
interface Answer {
  status: number
  headers: Record<string, string>
  // biome-ignore lint/suspicious/noExplicitAny: a body of any shape
  body: any
}
export type Tamper = (asked: Asked, answer: Answer) => void | Promise<void>

/** A supplier that is right, with its answers changed on their way: one that breaks the rules. */
export async function startWrongSupplier(base: string, tamper: Tamper) {
  const server = createServer(async (req, res) => {
    const body = await text(req)
    const { authorization, 'content-type': type } = req.headers
    const answer = await fetch(base + (req.url ?? ''), {
      method: req.method ?? 'GET',
      headers: { ...(authorization && { authorization }), ...(type && { 'content-type': type }) },
      ...(body && { body }),
    })
    const sent: Answer = {
      status: answer.status,
      headers: {
        'content-type': 'application/json',
        'cache-control': answer.headers.get('cache-control') ?? '',
      },
      body: await answer.json(),
    }
    const json = () => {
      try {
        return JSON.parse(body)
      } catch {
        return undefined
      }
    }
    await tamper(
      {
        base,
        method: req.method ?? '',
        path: req.url ?? '',
        form: new URLSearchParams(body),
        authorization,
        json: json(),
      },
      sent,
    )
    res
      .writeHead(sent.status, sent.headers)
      .end(typeof sent.body === 'string' ? sent.body : JSON.stringify(sent.body))
  })
  const { port, close } = await serve(server.listeners('request')[0] as never)
  return { url: `http://localhost:${port}`, close }
}

const isToken = ({ path }: Asked) => path === '/connect/token'
export const isSearch = ({ path }: Asked) => path.startsWith('/stores/nearest')
const isStore = ({ path }: Asked) => path.startsWith('/stores/') && !path.startsWith('/stores/nearest')
export const isPrices = ({ path }: Asked) => path === '/request-prices'
/** Changes the answers that are right. */
export const onGood =
  (which: (asked: Asked) => boolean, change: (answer: Answer, asked: Asked) => void): Tamper =>
  (asked, answer) => {
    if (which(asked) && answer.status === 200) change(answer, asked)
  }
/** Answers another status where one of these is right. */
const status =
  (which: (asked: Asked) => boolean, from: number, to: number, body?: unknown): Tamper =>
  (asked, answer) => {
    if (!which(asked) || answer.status !== from) return
    answer.status = to
    if (body !== undefined) answer.body = body
  }
const eachPrice = (change: (item: Record<string, number | string | null>) => void) =>
  onGood(isPrices, ({ body }) => body.forEach(change))

/** Answers a search as if its distance were another. */
export const scaled =
  (factor: number): Tamper =>
  async (asked, answer) => {
    if (!isSearch(asked) || answer.status !== 200) return
    const url = new URL(asked.path, asked.base)
    url.searchParams.set('radius', String(Math.min(50_000, Number(url.searchParams.get('radius')) * factor)))
    const headers = { authorization: asked.authorization ?? '' }
    answer.body = await (await fetch(asked.base + url.pathname + url.search, { headers })).json()
  }

/** Leaves the items out that have this error. */
const dropping = (code: string) =>
  onGood(isPrices, (answer) => {
    answer.body = answer.body.filter(({ errorCode }: { errorCode?: string }) => errorCode !== code)
  })
/** Gives such items a unit price all the same. */
const halfPriced = (code: string) =>
  eachPrice((item) => {
    if (item.errorCode === code) item.unitPrice = 5
  })

const STORE = { id: 'x', name: 'x' }
/** For every rule, ways to break it. */
export const WRONG: Record<string, [string, Tamper][]> = {
  'token.answer': [
    ['500 for a token', status(isToken, 200, 500)],
    ['201 for a token', status(isToken, 200, 201)],
    [
      'a token as text',
      onGood(isToken, (answer) => {
        answer.body = '"token"'
      }),
    ],
  ],
  'token.fields': [
    [
      'four token fields',
      onGood(isToken, ({ body }) => {
        body.scope = 'prices'
      }),
    ],
    [
      'two token fields',
      onGood(isToken, ({ body }) => {
        delete body.token_type
      }),
    ],
  ],
  'token.expires_in': [
    [
      'expires_in as text',
      onGood(isToken, ({ body }) => {
        body.expires_in = '900'
      }),
    ],
    [
      'expires_in of 0',
      onGood(isToken, ({ body }) => {
        body.expires_in = 0
      }),
    ],
    [
      'expires_in with a fraction',
      onGood(isToken, ({ body }) => {
        body.expires_in = 0.5
      }),
    ],
  ],
  'token.names': [
    [
      'another token type',
      onGood(isToken, ({ body }) => {
        body.token_type = 'mac'
      }),
    ],
    [
      'another name of the token',
      onGood(isToken, (answer) => {
        answer.body = { token: 'x', token_type: 'Bearer', expires_in: 5 }
      }),
    ],
  ],
  'token.no-store': [
    [
      'a token that may be stored',
      onGood(isToken, ({ headers }) => {
        headers['cache-control'] = 'public'
      }),
    ],
  ],
  'token.missing': [
    [
      '401 for a missing parameter',
      status((asked) => isToken(asked) && !asked.form.has('client_id'), 400, 401),
    ],
    ['400 as 200', status((asked) => isToken(asked) && !asked.form.has('grant_type'), 400, 200)],
  ],
  'token.grant-type': [
    ['a token for a password', status((asked) => asked.form.get('grant_type') === 'password', 400, 200)],
  ],
  'token.secret': [
    [
      '400 for a wrong secret',
      status((asked) => isToken(asked) && asked.form.get('client_id') === CALLER.id, 401, 400),
    ],
  ],
  'token.client': [
    [
      '404 for an unknown client',
      status((asked) => isToken(asked) && asked.form.get('client_id') !== CALLER.id, 401, 404),
    ],
  ],
  'access.required': [
    ['prices for anybody', status((asked) => isPrices(asked) && !asked.authorization, 401, 200, [])],
    ['403 without a token', status((asked) => isStore(asked) && !asked.authorization, 401, 403)],
  ],
  'access.invalid': [
    [
      'any token will do',
      status((asked) => isSearch(asked) && asked.authorization !== undefined, 401, 200, []),
    ],
    [
      'a token whose end is not looked at',
      status((asked) => isPrices(asked) && /\beyJ.*x$/.test(asked.authorization ?? ''), 401, 200, []),
    ],
  ],
  'nearest.array': [
    [
      'stores in an object',
      onGood(isSearch, (answer) => {
        answer.body = { stores: answer.body }
      }),
    ],
    [
      'stores that are no objects',
      onGood(isSearch, (answer) => {
        answer.body = answer.body.length > 0 ? ['x', STORE] : []
      }),
    ],
  ],
  'nearest.empty': [
    [
      'null instead of an empty array',
      onGood(isSearch, (answer) => {
        if (answer.body.length === 0) answer.body = null
      }),
    ],
    [
      '404 instead of an empty array',
      onGood(isSearch, (answer) => {
        if (answer.body.length === 0) answer.status = 404
      }),
    ],
    [
      'a store in the ocean',
      onGood(isSearch, (answer) => {
        if (answer.body.length === 0) answer.body = [STORE]
      }),
    ],
  ],
  'nearest.ids': [
    [
      'the same id twice',
      onGood(isSearch, ({ body }) => {
        if (body.length > 1) body[1].id = body[0].id
      }),
    ],
    [
      'an id that is a number',
      onGood(isSearch, ({ body }) => {
        if (body.length > 0) body[0].id = 7
      }),
    ],
  ],
  'nearest.range': [
    ['the furthest first', onGood(isSearch, ({ body }) => body.reverse())],
    [
      'a store beyond the radius',
      onGood(isSearch, ({ body }) => {
        if (body.length > 0) body[0].latitude = 60
      }),
    ],
  ],
  'nearest.radius': [
    ['a diameter taken for a radius', scaled(0.5)],
    ['miles taken for kilometres', scaled(1.609)],
    ['a radius that is not looked at', scaled(1000)],
  ],
  'nearest.input': [['anything for a bad latitude', status((asked) => isSearch(asked), 400, 200, [])]],
  'store.one': [
    [
      'another store',
      onGood(isStore, ({ body }) => {
        body.id = 'other'
      }),
    ],
    [
      'a list of one store',
      onGood(isStore, (answer) => {
        answer.body = [answer.body]
      }),
    ],
  ],
  'store.unknown': [['404 as 200', status(isStore, 404, 200, null)]],
  'store.form': [
    [
      'no trading hours',
      onGood(isStore, ({ body }) => {
        delete body.tradingHours
      }),
    ],
    [
      'hours that are none',
      onGood(isStore, ({ body }) => {
        body.tradingHours.dailyTradingHours[0].openingHours = [{ opens: '7', closes: '17' }]
      }),
    ],
  ],
  'nearest.form': [
    [
      'stores without trading hours in a search',
      onGood(isSearch, ({ body }) => {
        for (const store of body) delete store.tradingHours
      }),
    ],
    [
      'a latitude as text in a search',
      onGood(isSearch, ({ body }) => {
        for (const store of body) store.latitude = String(store.latitude)
      }),
    ],
  ],
  'prices.array': [
    [
      'prices in an object',
      onGood(isPrices, (answer) => {
        answer.body = { items: answer.body }
      }),
    ],
    [
      'an item that is left out',
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
      'the last first and the first last',
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
      'a price beyond all numbers',
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
      'an error without words',
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
      'no price where there is one',
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
      'a price for what does not exist',
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
      'nothing for a member',
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
