import { fileURLToPath } from 'node:url'
import { Eta } from 'eta'
import type { Response } from 'express'
import type { Account } from './accounts.ts'

const views = fileURLToPath(new URL('../../views/sandbox', import.meta.url))
const eta = new Eta({ views, cache: true })

export interface PageData {
  title: string
  /** Who is logged in, for the header. */
  account?: Account | undefined
  [name: string]: unknown
}

/** Renders a page of `views/sandbox` inside its layout. */
export function page(res: Response, view: string, data: PageData): void {
  const time = (ms: number | string) =>
    `${new Date(ms).toLocaleString('en-AU', { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'UTC' })} UTC`
  const { openToAll, links } = res.app.locals
  res.type('html').send(eta.render(`/${view}`, { time, openToAll, links, ...data }))
}

/** A page that says what is wrong and what to do. */
export function problem(res: Response, status: number, message: string, account?: Account): void {
  res.status(status)
  page(res, 'problem', { title: 'That did not work', status, message, account })
}
