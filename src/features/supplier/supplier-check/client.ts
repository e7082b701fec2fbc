import { PlatformError } from '../../../connect/errors.ts'
import { createHttp, type HttpRequest, parseJson } from '../../../connect/index.ts'
import { GRANT_TYPE, PATHS } from '../api/contract.ts'
import { type Exchange, NotPassedError, namedField } from './answer.ts'
import type { SupplierFile } from './supplier-file.ts'

type Fields = Readonly<Record<string, string>>

/** How long a call may take. */
const TIMEOUT_MS = 15_000

/** Calls a supplier as the platform does. Throws `NotPassedError` if a call gets no answer, a rate limit or a refused token. */
export class SupplierClient {
  /** The fields of a complete token request (specification 4.1). */
  readonly credentials: Fields
  readonly #supplier: SupplierFile
  readonly #http = createHttp({ stepTimeoutMs: TIMEOUT_MS, deadlineMs: TIMEOUT_MS })
  #granted: Promise<Exchange> | undefined

  constructor(supplier: SupplierFile) {
    const { clientId, clientSecret } = supplier
    this.credentials = { grant_type: GRANT_TYPE, client_id: clientId, client_secret: clientSecret }
    this.#supplier = supplier
  }

  /** The token request that supplies the token for the other calls. */
  granted = (): Promise<Exchange> => (this.#granted ??= this.requestToken(this.credentials))

  /** Sends a token request with these fields. */
  requestToken(fields: Fields): Promise<Exchange> {
    const isJson = this.#supplier.tokenRequest === 'json'
    const body = isJson ? JSON.stringify(fields) : new URLSearchParams(fields).toString()
    const headers = { 'content-type': isJson ? 'application/json' : 'application/x-www-form-urlencoded' }
    return this.#send(PATHS.token, { method: 'POST', headers, body }, `POST ${PATHS.token}`)
  }

  /** Searches for stores within a distance in kilometres. */
  search({ latitude, longitude }: SupplierFile['near'], km: number): Promise<Exchange> {
    const { names } = this.#supplier
    const query = new URLSearchParams({
      [names.latitude]: String(latitude),
      [names.longitude]: String(longitude),
      [names.radius]: String(km),
    })
    return this.#get(`${PATHS.nearest}?${query}`)
  }

  /** Looks up a store. */
  lookUp = (id: string) => this.#get(PATHS.store.replace('{id}', () => encodeURIComponent(id)))

  /** Requests the price of this quantity of each item at the known store. */
  requestPrices(itemIds: readonly string[], quantity: number, memberNumber?: string) {
    const { names, store } = this.#supplier
    const items = itemIds.map((itemId) => ({
      [names.itemId]: itemId,
      [names.storeId]: store,
      [names.quantity]: quantity,
    }))
    const body = JSON.stringify({ [names.memberNumber]: memberNumber, [names.items]: items })
    const call = { method: 'POST', headers: { 'content-type': 'application/json' }, body } as const
    return this.#withToken(PATHS.prices, call, `POST ${PATHS.prices} ${body}`)
  }

  #get = (path: string) => this.#withToken(path, { method: 'GET' }, `GET ${path}`)

  async #withToken(path: string, call: Omit<HttpRequest, 'url'>, shown: string): Promise<Exchange> {
    const token = namedField(await this.granted(), this.#supplier.names.access_token)
    const headers = { ...call.headers, authorization: `Bearer ${token}` }
    const exchange = await this.#send(path, { ...call, headers }, shown)
    if (exchange.status !== 401 && exchange.status !== 403) return exchange
    throw new NotPassedError('undecided', 'The token, sent as Authorization: Bearer, is refused.', exchange)
  }

  async #send(path: string, call: Omit<HttpRequest, 'url'>, request: string): Promise<Exchange> {
    const { status, text } = await this.#http
      .send({ ...call, url: this.#supplier.baseUrl + path })
      .catch((error) => {
        if (!(error instanceof PlatformError)) throw error
        throw new NotPassedError('failed', `${error.message}.`, { request, status: 0, json: undefined })
      })
    const exchange = { request, status, json: parseJson(text) }
    if (status !== 429) return exchange
    throw new NotPassedError('undecided', 'The supplier limits calls. Run the check again later.', exchange)
  }
}
