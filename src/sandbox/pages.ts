import { fileURLToPath } from 'node:url'
import { Eta } from 'eta'
import type { Request, Response } from 'express'
import type { Account } from './accounts.ts'

const views = fileURLToPath(new URL('../../views/sandbox', import.meta.url))
const eta = new Eta({ views, cache: true })

export interface PageData {
  title: string
  /** Who is logged in, for the header. */
  account?: Account | undefined
  /** Whether the page only asks for a decision, and therefore has no navigation. */
  isDecision?: boolean
  [name: string]: unknown
}

/** A time as HTML, for `<%~ %>`: in UTC, until `local-times.js` shows it in the reader's time zone. */
function time(value: number | string): string {
  const at = new Date(value)
  const text = at.toLocaleString('en-AU', { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'UTC' })
  return `<time datetime="${at.toISOString()}" data-time-style="medium">${text} UTC</time>`
}

/** Whether this browser shows the demo to a customer. The app's cookie is also sent here, because cookies ignore the port. */
export const isCustomerView = (req: Request): boolean => /\bcustomer_view=1\b/.test(req.get('cookie') ?? '')

/** Renders a page of `views/sandbox` inside its layout. */
export function page(res: Response, view: string, data: PageData): void {
  const { openToAll, links, appUrl } = res.app.locals
  const notice = res.statusCode < 400 ? takeNotice(res) : null
  const shared = { time, openToAll, links, appUrl, notice, customerView: isCustomerView(res.req) }
  res.type('html').send(eta.render(`/${view}`, { ...shared, ...data }))
}

const NOTICE_COOKIE = 'platform_notice'
const NOTICE_MS = 60_000

/** Shows a sentence on the next page about the result of an action, and the next step. */
export function leaveNotice(res: Response, text: string): void {
  const value = Buffer.from(text).toString('base64url')
  res.cookie(NOTICE_COOKIE, value, { httpOnly: true, sameSite: 'strict', maxAge: NOTICE_MS })
}

function takeNotice(res: Response): string | null {
  const [, value] = new RegExp(`\\b${NOTICE_COOKIE}=([\\w-]+)`).exec(res.req.get('cookie') ?? '') ?? []
  if (value === undefined) return null
  res.clearCookie(NOTICE_COOKIE)
  return Buffer.from(value, 'base64url').toString()
}

/** A page that explains a problem and its remedy. */
export function problem(res: Response, status: number, message: string, account?: Account): void {
  res.status(status)
  page(res, 'problem', { title: 'That did not work', status, message, account })
}
