import { setImmediate } from 'node:timers/promises'
import type { Known } from '../../../../src/features/supplier/supplier-check/rule.ts'
import { type Answer, type Change, CLIENT, cents, type Line } from './model.ts'

/** What else the check is told, and which rules are broken by the same fault. */
interface More {
  known?: Partial<Known>
  also?: string[]
}

/** For each rule the smallest wrong supplier: the rule, what it does, how it differs from the right one. */
export const WRONG: [rule: string, name: string, change: Change, more?: More][] = [
  ['token.issued', 'the token endpoint fails', () => ({ token: () => ({ status: 500 }) })],
  [
    'token.accepted',
    'the price request knows other tokens',
    (right) => ({ accepts: (token, path) => path !== '/request-prices' && right.accepts(token, path) }),
  ],
  [
    'token.not-ended',
    'a new token ends the one before',
    (right) => ({
      accepts: (token, path) => right.accepts(token, path) && token === [...right.issued.keys()].at(-1),
    }),
    { also: ['token.lifetime'] },
  ],
  [
    'token.three-fields',
    'a scope beside the token',
    (right) => ({ tokenBody: (token) => ({ ...right.tokenBody(token), scope: 'prices' }) }),
  ],
  [
    'token.expires-in',
    'expires_in is text',
    (right) => ({ tokenBody: (token) => ({ ...right.tokenBody(token), expires_in: '900' }) }),
  ],
  [
    'token.missing',
    'without grant_type there is a token',
    (right) => ({
      token: (asked) => right.token({ ...asked, form: { grant_type: 'client_credentials', ...asked.form } }),
    }),
  ],
  [
    'token.malformed',
    'an empty body is a fault',
    (right) => ({
      token: (asked) => (Object.keys(asked.form ?? {}).length === 0 ? { status: 500 } : right.token(asked)),
    }),
  ],
  [
    'token.empty-secret',
    'an empty secret is accepted',
    (right) => ({
      token: (asked) =>
        asked.form?.client_secret === ''
          ? right.token({ ...asked, form: { ...asked.form, client_secret: CLIENT.secret } })
          : right.token(asked),
    }),
  ],
  [
    'token.other-client',
    'any client id gets a token',
    (right) => ({ isClient: (_id, secret) => right.isClient(CLIENT.id, secret) }),
  ],
  [
    'token.wrong-secret',
    'the first 16 characters of the secret count',
    (right) => ({
      isClient: (id, secret) =>
        right.isClient(
          id,
          secret.trim() === secret && secret.slice(0, 16) === CLIENT.secret.slice(0, 16)
            ? CLIENT.secret
            : secret,
        ),
    }),
  ],
  [
    'token.blank-secret',
    'a blank at the end is dropped',
    (right) => ({ isClient: (id, secret) => right.isClient(id, secret.trimEnd()) }),
  ],
  [
    'nearest.array',
    'one store is not in an array',
    (right) => ({
      nearest(query) {
        const { status, body } = right.nearest(query)
        return { status, body: body.length === 1 ? body[0] : body }
      },
    }),
  ],
  [
    'nearest.empty',
    'nothing in range is 404',
    (right) => ({
      nearest(query) {
        const answer = right.nearest(query)
        return answer.body.length === 0 ? { status: 404 } : answer
      },
    }),
  ],
  [
    'nearest.longitude-sign',
    'the sign of a longitude is dropped',
    (right) => ({
      search: (latitude, longitude, radius) => right.search(latitude, Math.abs(longitude), radius),
    }),
    { also: ['nearest.within'] },
  ],
  [
    'nearest.latitude-sign',
    'south is taken for north and north for south',
    (right) => ({
      search: (latitude, longitude, radius) =>
        [
          ...right.search(latitude, longitude, radius),
          ...right.search(-latitude, longitude, radius).map(({ distance: _, ...store }) => store),
        ].filter((store, index, all) => all.findIndex(({ id }) => id === store.id) === index),
    }),
    { also: ['nearest.within'] },
  ],
  [
    'nearest.zero-distance',
    'a distance of 0 is read as 50 km',
    (right) => ({ search: (latitude, longitude, radius) => right.search(latitude, longitude, radius || 50) }),
    { also: ['nearest.within'] },
  ],
  [
    'nearest.all',
    'degrees of longitude are as long as at the equator',
    () => ({
      km: (at, store) => 111.2 * Math.hypot(at.latitude - store.latitude, at.longitude - store.longitude),
    }),
  ],
  [
    'nearest.nearest',
    'the list is cut to three before it is sorted',
    (right) => ({
      search: (latitude, longitude, radius) => {
        const found = new Set(right.search(latitude, longitude, radius).map(({ id }) => id))
        const cut = right.stores.filter(({ id }) => found.has(id)).slice(0, 3)
        return cut.sort((a, b) => right.km({ latitude, longitude }, a) - right.km({ latitude, longitude }, b))
      },
    }),
    { also: ['nearest.all'] },
  ],
  [
    'nearest.within',
    'the distance is in miles',
    (right) => ({
      search: (latitude, longitude, radius) => right.search(latitude, longitude, radius * 1.609),
    }),
  ],
  [
    'nearest.unique-ids',
    'a store comes twice',
    (right) => ({
      search: (...place) =>
        right.search(...place).flatMap((store) => (store.id === 'perth' ? [store, store] : [store])),
    }),
  ],
  [
    'store.one',
    'the lookup of one store returns its neighbour',
    (right) => ({ lookUp: (id) => right.lookUp(id === 'sydney' ? 'penrith' : id) }),
  ],
  [
    'store.unknown',
    'an unknown id is a fault',
    (right) => ({ lookUp: (id) => unless404(right.lookUp(id), { status: 500 }) }),
  ],
  [
    'store.odd-id',
    'a quote is a fault',
    (right) => ({ lookUp: (id) => (id.includes("'") ? { status: 500 } : right.lookUp(id)) }),
  ],
  [
    'prices.without-member',
    'the member number is required',
    (right) => ({ prices: (request) => (request.memberNumber ? right.prices(request) : { status: 400 }) }),
  ],
  [
    'prices.array',
    'lines in error are left out',
    (right) => ({
      priceLine: (line, ...rest) => right.priceLine(line, ...rest),
      finish: (answer, { path }) =>
        path === '/request-prices' && answer.status === 200
          ? {
              ...answer,
              body: answer.body.filter(({ unitPrice }: Line & { unitPrice: unknown }) => unitPrice !== null),
            }
          : answer,
    }),
  ],
  [
    'prices.unpriced-item',
    'an item that is not in range has a price of its own',
    (right) => ({
      failedLine: (line, code) =>
        code === 'not_in_range'
          ? { ...line, unitPrice: 1, discount: 0, totalPrice: 1 }
          : right.failedLine(line, code),
    }),
  ],
  [
    'prices.unknown-store',
    'an unknown store has the prices of the head office',
    (right) => ({
      priceLine: (line, ...rest) =>
        right.priceLine(
          right.lookUp(line.storeId).status === 404 ? { ...line, storeId: 'melbourne' } : line,
          ...rest,
        ),
    }),
  ],
  [
    'prices.amounts',
    'a discount of nothing is a text',
    (right) => ({ priceLine: (...line) => ({ ...right.priceLine(...line), discount: '' }) }),
  ],
  [
    'prices.code-and-message',
    'an error has no message',
    (right) => ({ failedLine: (...line) => ({ ...right.failedLine(...line), errorMessage: undefined }) }),
  ],
  [
    'prices.total',
    'the total has tax',
    () => ({ total: (unit, quantity, discount) => cents((unit * quantity - discount) * 1.1) }),
  ],
  [
    'price.before-tax',
    'the unit price has tax',
    (right) => ({ unitPrice: (...item) => cents(right.unitPrice(...item) * 1.1) }),
    { also: ['member.price'] },
  ],
  [
    'price.right',
    'a price is another one',
    (right) => ({ unitPrice: (item, store) => right.unitPrice(item, store) + (item === 'B-2' ? 0.02 : 0) }),
    { also: ['member.price'] },
  ],
  [
    'member.price',
    'the member number is ignored',
    (right) => ({ priceLine: (line, _member, ...rest) => right.priceLine(line, undefined, ...rest) }),
  ],
  [
    'member.next-line',
    'the discount of a member is carried to the next line',
    (right) => {
      let before = 0
      return {
        prices(request) {
          before = 0
          return right.prices(request)
        },
        discount(line, member, unit) {
          const own = right.discount(line, member, unit)
          const given = own || before
          before = own
          return given
        },
      }
    },
    { also: ['member.other-request', 'price.beside-others', 'price.ten-at-once', 'price.other-store'] },
  ],
  [
    'member.other-request',
    'the member of a long request is remembered for the next one',
    (right) => {
      let remembered: string | undefined
      return {
        prices(request) {
          const memberNumber = request.memberNumber ?? remembered
          remembered = request.items.length > 1 ? memberNumber : undefined
          return right.prices({ ...request, memberNumber })
        },
      }
    },
    { also: ['price.beside-others', 'price.ten-at-once', 'price.other-store'] },
  ],
  [
    'price.beside-others',
    'lines behind an error have no price',
    (right) => ({
      priceLine: (line, member, index, lines) =>
        lines.slice(0, index).some(({ itemId }) => itemId.includes('-') && itemId.length > 30)
          ? right.failedLine(line, 'skipped')
          : right.priceLine(line, member, index, lines),
    }),
  ],
  [
    'price.ten-at-once',
    'the member of requests that overlap is mixed up',
    (right) => {
      let member: string | undefined
      return {
        async prices(request) {
          member = request.memberNumber
          await setImmediate()
          return right.prices({ ...request, memberNumber: member })
        },
      }
    },
  ],
  [
    'price.other-store',
    'all lines are for the store of the first one',
    (right) => ({
      priceLine: (line, member, index, lines) =>
        right.priceLine({ ...line, storeId: lines[0]?.storeId ?? '' }, member, index, lines),
    }),
    { also: ['prices.unpriced-item'] },
  ],
  [
    'token.made-up',
    'the beginning of a token is enough',
    (right) => ({
      accepts: (token, path) =>
        [...right.issued.keys()].some((one) => token.startsWith(one) && right.accepts(one, path)),
    }),
  ],
  [
    'token.lifetime',
    'a token ends after 4 s',
    (right) => ({
      accepts: (token, path) =>
        right.accepts(token, path) && right.now() - (right.issued.get(token) ?? 0) < 4_000,
    }),
  ],
  [
    'token.end',
    'tokens of 5 s never end',
    (right) => ({ expiresIn: 5, accepts: (token) => right.issued.has(token) }),
  ],
]

const unless404 = (answer: Answer, other: Answer) => (answer.status === 404 ? other : answer)
