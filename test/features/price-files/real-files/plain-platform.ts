import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { serve } from '../../../support/ports.ts'

/**
 * A platform that is written from sections 2.5, 4.2, 4.4, 5.2 and 8 of the specification alone. Where that leaves
 * something open, it chooses differently than the sandbox: uploads are answered with the text `OK`, late and out of order,
 * an import ends as `Succeeded` and has no counts, a page of catalogues holds two, and tokens last a minute.
 */
export interface PlainPlatform {
  apiUrl: string
  credentials: { email: string; apiKey: string; subscriptionKey: string }
  /** Creates a catalogue as another program would; returns its id. */
  addCatalogue(name: string): string
  /** Every item of the catalogues with this name, in the order of arrival. */
  itemsOf(name: string): unknown[]
  /** What a client did that the specification does not allow. */
  readonly violations: string[]
  readonly logins: number
  close(): Promise<void>
}

interface Catalogue {
  id: string
  name: string
  scope: string
  /** By code; `at`: the position in the file, if uploads were in order. */
  items: Map<string, unknown>
  jobs: Map<string, Job>
}

interface Job {
  uploads: number
  polls: number
}

interface Answer {
  status: number
  /** Text is answered as it is. */
  body: unknown
}

const BASE = '/gateway/supplier/v2'
/** How long a token is accepted, in seconds. */
const TOKEN_SECONDS = 60
const FIELDS = { code: 'string', name: 'string', description: 'string', unit: 'string', category: 'string' }

export async function startPlainPlatform(): Promise<PlainPlatform> {
  const credentials = {
    email: 'ops@summit.example',
    apiKey: `key-${randomUUID()}`,
    subscriptionKey: randomUUID(),
  }
  const catalogues = new Map<string, Catalogue>()
  const violations: string[] = []
  const tokens = new Map<string, number>()
  const refreshTokens = new Set<string>()
  let logins = 0

  function newTokens(): Answer {
    const accessToken = randomUUID()
    tokens.set(accessToken, Date.now() + TOKEN_SECONDS * 1000)
    const refreshToken = randomUUID()
    refreshTokens.add(refreshToken)
    return { status: 200, body: { accessToken, isSuccessful: true, expiresIn: TOKEN_SECONDS, refreshToken } }
  }

  function addCatalogue(name: string, scope = 'Public'): string {
    const id = randomUUID()
    catalogues.set(id, { id, name, scope, items: new Map(), jobs: new Map() })
    return id
  }

  function authenticate(path: string, body: Record<string, unknown>): Answer {
    if (body.email !== credentials.email || body.apiKey !== credentials.apiKey)
      return { status: 401, body: { isSuccessful: false } }
    if (path.endsWith('/login')) {
      logins++
      return newTokens()
    }
    // A refresh token is replaced by the new one.
    return refreshTokens.delete(String(body.refreshToken))
      ? newTokens()
      : { status: 401, body: { isSuccessful: false } }
  }

  function isKnown(authorization = ''): boolean {
    const token = /^Bearer (\S+)$/.exec(authorization)?.[1] ?? ''
    return (tokens.get(token) ?? 0) > Date.now()
  }

  async function answer(
    method: string,
    { pathname, searchParams }: URL,
    body: Record<string, unknown>,
  ): Promise<Answer> {
    const path = pathname.slice(BASE.length)
    if (method === 'GET' && path === '/catalogues') {
      const skip = Number(searchParams.get('$skip') ?? 0)
      const page = [...catalogues.values()].slice(skip, skip + 2)
      return { status: 200, body: page.map(({ id, name, scope }) => ({ id, name, scope })) }
    }
    if (method === 'POST' && path === '/catalogues') {
      const id = addCatalogue(String(body.name), String(body.scope))
      return { status: 200, body: { id, name: body.name, scope: body.scope } }
    }
    const [, id = '', batchId = '', action] =
      /^\/catalogues\/([^/]+)\/import\/([^/]+)(\/items)?$/.exec(path) ?? []
    const catalogue = catalogues.get(decodeURIComponent(id))
    if (!catalogue) return { status: 404, body: 'no such catalogue' }
    if (method === 'POST' && batchId === 'start' && !action) return start(catalogue, body)
    const job = catalogue.jobs.get(decodeURIComponent(batchId))
    if (!job) return { status: 404, body: 'no such import' }
    if (method === 'POST' && action) return upload(catalogue, job, body)
    job.polls++
    return { status: 200, body: { status: job.polls > 2 ? 'Succeeded' : 'InProgress', message: null } }
  }

  function start({ jobs }: Catalogue, { batchId }: Record<string, unknown>): Answer {
    if (typeof batchId !== 'string' || batchId === '') return { status: 400, body: 'batchId is required' }
    if (jobs.has(batchId)) return { status: 409, body: 'this batch exists' }
    jobs.set(batchId, { uploads: 0, polls: 0 })
    return { status: 202, body: 'OK' }
  }

  async function upload(catalogue: Catalogue, job: Job, { items }: Record<string, unknown>): Promise<Answer> {
    const list = Array.isArray(items) ? items : []
    if (list.length === 0 || list.length > 1000) violations.push(`a batch of ${list.length} items`)
    if (job.polls > 0) violations.push('an upload after the import was polled')
    for (const item of list) violations.push(...problemsOf(item))
    // Every second upload takes longer than the next one.
    await setTimeout(job.uploads++ % 2 === 0 ? 350 : 5)
    for (const item of list) catalogue.items.set(item.code, item)
    return { status: 200, body: 'OK' }
  }

  async function handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { method = '', headers } = req
    const url = new URL(req.url ?? '', 'http://localhost')
    let text = ''
    for await (const chunk of req.setEncoding('utf8')) text += chunk
    const reply = ({ status, body }: Answer) => {
      const type = typeof body === 'string' ? 'text/plain' : 'application/json'
      res.writeHead(status, { 'content-type': type })
      res.end(typeof body === 'string' ? body : JSON.stringify(body))
    }
    if (!url.pathname.startsWith(`${BASE}/`)) violations.push(`${method} ${url.pathname}`)
    if (headers['ocp-apim-subscription-key'] !== credentials.subscriptionKey)
      violations.push(`no subscription key on ${url.pathname}`)
    if (method === 'POST' && headers['content-type'] !== 'application/json')
      violations.push(`${headers['content-type']} on ${url.pathname}`)
    const body = text === '' ? {} : JSON.parse(text)
    if (url.pathname.startsWith(`${BASE}/accounts/auth/`)) return reply(authenticate(url.pathname, body))
    if (!isKnown(headers.authorization)) return reply({ status: 401, body: 'token ended' })
    reply(await answer(method, url, body))
  }

  const { server, port, close } = await serve()
  server.on('request', handle)
  return {
    apiUrl: `http://127.0.0.1:${port}${BASE}`,
    credentials,
    addCatalogue,
    itemsOf: (name) =>
      [...catalogues.values()]
        .filter((catalogue) => catalogue.name === name)
        .flatMap(({ items }) => [...items.values()]),
    violations,
    get logins() {
      return logins
    },
    close,
  }
}

/** What is wrong with an item, whatever its values. */
function problemsOf(item: Record<string, unknown>): string[] {
  const { price, ...texts } = item
  const problems: string[] = []
  if (typeof price !== 'number' || !(price >= 0)) problems.push(`the price ${price}`)
  if (!texts.code) problems.push('an item without a code')
  for (const [name, value] of Object.entries(texts))
    if (typeof value !== FIELDS[name as keyof typeof FIELDS]) problems.push(`${name}: ${value}`)
  return problems
}
