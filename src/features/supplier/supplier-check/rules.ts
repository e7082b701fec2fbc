import { expectUnderstood, isRecord, namedField, shapeOf } from './answer.ts'
import { PRICE_RULES } from './price-rules.ts'
import { demand, judge, type Rules, type Supplier, UNKNOWN_ID } from './rule.ts'

/** Point Nemo in the South Pacific, far from any store. */
const REMOTE = { latitude: -48.8767, longitude: -123.3933 }

/** The distance of the search around the `near` of the supplier file, in kilometres. */
const NEAR_KM = 50

const granted = async ({ client }: Supplier) => [await client.granted()]

const TOKEN_RULES: Rules = {
  'token.issued': {
    given: ['4.1', 'A token request with the client id and its secret returns a token response.'],
    check: judge(granted, (answer) =>
      answer.status < 300 && isRecord(answer.json)
        ? undefined
        : `It must return a JSON object, not ${shapeOf(answer)}. Are clientId, clientSecret and tokenRequest right?`,
    ),
  },
  'token.three-fields': {
    given: ['2.1', 'The token response holds exactly three fields.'],
    needs: 'token.issued',
    check: judge(granted, ({ json }) => {
      const names = isRecord(json) ? Object.keys(json) : []
      return names.length === 3 ? undefined : `It holds ${names.length} fields: ${names.join(', ')}.`
    }),
  },
  'token.expires-in': {
    given: ['2.1', 'expires_in of the token response is a whole number of seconds.'],
    needs: 'token.issued',
    check: judge(granted, ({ json }) => {
      const seconds = isRecord(json) ? json.expires_in : undefined
      return Number.isInteger(seconds) ? undefined : `It is ${typeof seconds}, or not whole.`
    }),
  },
}

const SEARCH_RULES: Rules = {
  'search.array': {
    given: [
      '4.1',
      'GET /stores/nearest returns a JSON array of stores, with at least one store near the place in your file.',
    ],
    needs: 'token.issued',
    check: judge(
      async ({ client, near }) => [await client.search(near, NEAR_KM)],
      (answer) => {
        expectUnderstood(answer)
        const { status, json } = answer
        return status === 200 && Array.isArray(json) && json.length > 0 && json.every(isRecord)
          ? undefined
          : `A search within ${NEAR_KM} km must return an array of stores, not ${shapeOf(answer)}.`
      },
    ),
  },
  'search.empty': {
    given: ['7', 'A search with no store in range returns 200 and an empty array.'],
    needs: 'search.array',
    check: judge(
      async ({ client }) => [await client.search(REMOTE, 1)],
      (answer) => {
        const isEmpty = answer.status === 200 && Array.isArray(answer.json) && answer.json.length === 0
        return isEmpty ? undefined : `In the middle of an ocean, it returns ${shapeOf(answer)}.`
      },
    ),
  },
}

const STORE_RULES: Rules = {
  'store.one': {
    given: ['4.1', 'GET /stores/{id} returns the one store that has this id.'],
    needs: 'token.issued',
    check: judge(
      async ({ client, store }) => [await client.lookUp(String(store))],
      (answer, { store, names }) => {
        if (answer.status !== 200 || !isRecord(answer.json))
          return `The lookup of ${store} must return a JSON object, not ${shapeOf(answer)}.`
        const id = String(namedField(answer, names.id))
        return id === String(store) ? undefined : `The lookup of ${store} returns the store ${id}.`
      },
    ),
  },
  'store.unknown': {
    given: ['7', 'GET /stores/{id} with an unknown id returns 404.'],
    needs: 'token.issued',
    check: demand(({ client }) => [['The lookup of an unknown id', 404, () => client.lookUp(UNKNOWN_ID)]]),
  },
}

/** Token requests that the supplier must refuse. */
const CREDENTIAL_RULES: Rules = {
  'token.wrong-secret': {
    given: ['7', 'A token request with a wrong client_secret returns 401.'],
    needs: 'token.issued',
    check: demand(({ client }) => {
      const fields = { ...client.credentials, client_secret: UNKNOWN_ID }
      return [['A token request with a wrong client_secret', 401, () => client.requestToken(fields)]]
    }),
  },
  'token.missing': {
    given: ['7', 'A token request without one of its three parameters returns 400.'],
    needs: 'token.issued',
    check: demand(({ client }) =>
      Object.keys(client.credentials).map((missing) => {
        const { [missing]: _, ...fields } = client.credentials
        return [`A token request without ${missing}`, 400, () => client.requestToken(fields)]
      }),
    ),
  },
}

/** All rules, in the order of the checks. The wrong secret comes last, because a supplier may limit failed requests. */
export const RULES: Rules = {
  ...TOKEN_RULES,
  ...SEARCH_RULES,
  ...STORE_RULES,
  ...PRICE_RULES,
  ...CREDENTIAL_RULES,
}
