import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { serve } from '../../support/ports.ts'

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

export const isToken = ({ path }: Asked) => path === '/connect/token'
export const isSearch = ({ path }: Asked) => path.startsWith('/stores/nearest')
export const isStore = ({ path }: Asked) => path.startsWith('/stores/') && !path.startsWith('/stores/nearest')
export const isPrices = ({ path }: Asked) => path === '/request-prices'
/** Changes the answers that are right. */
export const onGood =
  (which: (asked: Asked) => boolean, change: (answer: Answer, asked: Asked) => void): Tamper =>
  (asked, answer) => {
    if (which(asked) && answer.status === 200) change(answer, asked)
  }
/** Answers another status where one of these is right. */
export const status =
  (which: (asked: Asked) => boolean, from: number, to: number, body?: unknown): Tamper =>
  (asked, answer) => {
    if (!which(asked) || answer.status !== from) return
    answer.status = to
    if (body !== undefined) answer.body = body
  }
export const eachPrice = (change: (item: Record<string, number | string | null>) => void) =>
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
export const dropping = (code: string) =>
  onGood(isPrices, (answer) => {
    answer.body = answer.body.filter(({ errorCode }: { errorCode?: string }) => errorCode !== code)
  })
/** Gives such items a unit price all the same. */
export const halfPriced = (code: string) =>
  eachPrice((item) => {
    if (item.errorCode === code) item.unitPrice = 5
  })
