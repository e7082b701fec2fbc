import type { Request, RequestHandler } from 'express'
import type { ConnectionRef, Page, PageOf } from '../../connect/index.ts'
import { sendPageOrJson } from '../requests/respond.ts'
import { connectionRef } from './connection-guard.ts'
import { type ListChoice, type ListFields, listQuery, pager, platformPage } from './paging.ts'

interface ListPagesOptions<T> {
  /** The template. It gets `items` (null if they could not be read), and the data of `app/list-controls` and `app/pager`. */
  view: string
  title: string
  fields: ListFields
  /** Requests a page of the list from the platform. */
  load(ref: ConnectionRef, page: Page): Promise<PageOf<T>>
  /** Further data for the template. */
  data(req: Request): Record<string, unknown>
  /** Other parameters of the address that the links of the list keep. */
  keep?(req: Request): ListChoice['keep']
}

/** Returns a handler that sends the page of a connection's list, and a function that renders this page for a rejected form. */
export function listPages<T>({ view, title, fields, load, data, keep }: ListPagesOptions<T>) {
  const query = listQuery(fields)
  /** Throws a `ZodError` that names the parameter. */
  const choiceIn = (req: Request): ListChoice => ({ ...query.parse(req.query), keep: keep?.(req) ?? {} })
  const loadFor = (req: Request, choice: ListChoice) => load(connectionRef(req), platformPage(choice, fields))
  const dataOf = (req: Request, choice: ListChoice, result: PageOf<T> | null) => ({
    bxcontext: connectionRef(req).bxcontext,
    items: result?.items ?? null,
    pager: result && pager(result, choice),
    choice,
    fields,
    ...data(req),
  })
  const send: RequestHandler = async (req, res) => {
    const choice = choiceIn(req)
    const result = await loadFor(req, choice)
    sendPageOrJson(req, res, { view, title, data: () => dataOf(req, choice, result), json: result })
  }
  return {
    send,
    /** Creates the page for a rejected form. If the platform does not send the list, the page shows no items. */
    async afterForm(req: Request) {
      const choice = choiceIn(req)
      const result = await loadFor(req, choice).catch(() => null)
      return { view, title, data: dataOf(req, choice, result) }
    },
  }
}
