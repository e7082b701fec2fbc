import type { Request, RequestHandler, Response } from 'express'
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
      refuse(res, recorded)
      if (res.statusCode >= 400) return json(withError(body, res.statusCode, recorded))
      const shape = (record: unknown) => {
        if (!list || typeof record !== 'object' || record === null) return record
        const types = recorded.records[list] ?? {}
        const { id } = record as { id?: unknown }
        const numbered = hasNumbers && typeof id === 'string' ? { ...record, id: numbers.of(id) } : record
        return shaped(numbered, types)
      }
      if (!Array.isArray(body)) return json(isRecord(req, list) ? shape(body) : body)
      if (recorded.listTotal === false) res.removeHeader('x-odata-total-count')
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

/** The status and the challenge of a refusal. */
function refuse(res: Response, { invalidToken, missingScope, notFound }: Recorded): void {
  const recorded = { 401: invalidToken, 403: missingScope, 404: notFound }[res.statusCode]
  if (!recorded) return
  res.status(recorded.status)
  if (!('challenge' in recorded || res.hasHeader('www-authenticate'))) return
  const own = String(res.getHeader('www-authenticate') ?? '')
  res.removeHeader('www-authenticate')
  const challenge = 'challenge' in recorded ? recorded.challenge : undefined
  if (challenge === undefined) return
  const [scheme = 'Bearer', ...names] = challenge.split(/[ ,]+/)
  const parameters = names.map(
    (name) => `${name}="${new RegExp(`${name}="([^"]*)"`).exec(own)?.[1] ?? 'sample'}"`,
  )
  res.set('WWW-Authenticate', [scheme, parameters.join(', ')].join(' ').trim())
}

/** The error code of a refusal, where it was recorded. */
function withError(
  body: unknown,
  status: number,
  { invalidToken, missingScope, notFound }: Recorded,
): unknown {
  const recorded = [invalidToken, missingScope, notFound].find((refusal) => refusal?.status === status)
  if (!recorded) return body
  return recorded.error === undefined ? { message: 'Refused.' } : { error: recorded.error }
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
  const [, id, rest = ''] = new RegExp(`^${RegExp.escape(list)}/([^/?]+)(.*)$`).exec(url) ?? []
  return id === undefined ? url : `${list}/${encodeURIComponent(textOf(decodeURIComponent(id)))}${rest}`
}
