import type { Request, RequestHandler, Response } from 'express'
import { PLATFORM } from './platform.ts'
import { type Recorded, shaped } from './recorded.ts'

/** Changes the responses of the API to those of a recorded platform; mounted before the API. */
export function recordedApi(recorded: Recorded): RequestHandler {
  const numbers = createNumbers()
  return (req, res, next) => {
    const [list] = Object.entries(recorded.records).find(([path]) => isBelow(req.path, path)) ?? []
    const hasNumbers = list !== undefined && recorded.records[list]?.id === 'number'
    if (list && hasNumbers) req.url = withId(req.url, list, numbers.textOf)
    for (const name of recorded.rateLimitHeaders ?? []) res.set(name, '100')
    const json = res.json.bind(res)
    res.json = (body: unknown) => {
      const refusal = refusalFor(res.statusCode, recorded)
      if (refusal) return json(refuse(res, refusal))
      if (res.statusCode >= 400) return json(body)
      const shape = (record: unknown) => {
        if (!list || typeof record !== 'object' || record === null) return record
        const types = recorded.records[list] ?? {}
        const { id } = record as { id?: unknown }
        const numbered = hasNumbers && typeof id === 'string' ? { ...record, id: numbers.of(id) } : record
        return shaped(numbered, types)
      }
      if (!Array.isArray(body)) return json(isRecord(req, list) ? shape(body) : body)
      if (recorded.listTotal === false) res.removeHeader(PLATFORM.paging.totalHeader)
      const records = body.map(shape)
      return json(recorded.listWrapper === undefined ? records : { [recorded.listWrapper]: records })
    }
    next()
  }
}

const isBelow = (path: string, list: string) => path === list || path.startsWith(`${list}/`)

/** The list itself, which creates records as well, or one record; not what is below a record, such as an import. */
const isRecord = ({ path }: Request, list: string | undefined) =>
  list !== undefined && isBelow(path, list) && path.slice(list.length).split('/').length <= 2

/** The refusal that was recorded for a status. */
const refusalFor = (status: number, { invalidToken, missingScope, notFound }: Recorded) =>
  new Map<number, Recorded['invalidToken']>([
    [401, invalidToken],
    [403, missingScope],
    [404, notFound],
  ]).get(status)

/** Sends a refusal as it was recorded, with its status, its challenge and its error code. */
function refuse(res: Response, recorded: NonNullable<Recorded['invalidToken']>): unknown {
  const { status, challenge, error } = recorded
  const own = String(res.getHeader('www-authenticate') ?? '')
  res.status(status).removeHeader('www-authenticate')
  if (challenge !== undefined) res.set('WWW-Authenticate', challengeWith(challenge, own))
  return error === undefined ? { message: 'Refused.' } : { error }
}

/** A challenge with these parameters, and the values of the sandbox's own. */
function challengeWith(challenge: string, own: string): string {
  const [scheme = 'Bearer', ...names] = challenge.split(/[ ,]+/)
  const values = new Map(
    [...own.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]),
  )
  const parameters = names.filter(Boolean).map((name) => `${name}="${values.get(name) ?? 'sample'}"`)
  return `${scheme} ${parameters.join(', ')}`.trim()
}

/** Numbers in place of ids that are text, the same one each time. */
function createNumbers() {
  const texts: string[] = []
  return {
    of(text: string): number {
      const index = texts.indexOf(text)
      return index >= 0 ? index + 1 : texts.push(text)
    },
    textOf: (number: string): string => texts[Number(number) - 1] ?? number,
  }
}

/** The url of a record with the id that the sandbox knows. */
function withId(url: string, list: string, textOf: (number: string) => string): string {
  const [path = '', ...query] = url.split('?')
  const [id = '', ...rest] = path.slice(list.length + 1).split('/')
  // Only numbers stand for another id.
  if (!/^\d+$/.test(id)) return url
  const changed = [list, encodeURIComponent(textOf(id)), ...rest].join('/')
  return [changed, ...query].join('?')
}
