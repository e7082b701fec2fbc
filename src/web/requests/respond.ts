import type { Request, Response } from 'express'
import * as z from 'zod'

export const noticeSchema = z.object({
  text: z.string(),
  /** `good`: the action succeeded. `wait`: the user has to do more, or to try again later. Defaults to `good`. */
  tone: z.enum(['good', 'wait']).optional(),
  /** Shown after the text. */
  link: z.object({ href: z.string(), label: z.string() }).optional(),
  /** The bxcontext of the business that can be connected again. */
  connectAgain: z.string().optional(),
  /** Details for developers, which the page shows collapsed. */
  details: z.string().optional(),
})
export type Notice = z.infer<typeof noticeSchema>

/** Whether the client prefers JSON. Browsers and clients without a preference get HTML. */
export function wantsJson(req: Request): boolean {
  // Programs usually send exactly this. The shortcut saves the time of a negotiation (npm run bench, rows of the leads route).
  if (req.headers.accept === 'application/json') return true
  return req.accepts(['html', 'json', 'application/problem+json']) !== 'html'
}

/** Sends a page to browsers, or JSON to clients that request it. */
export function sendPageOrJson(
  req: Request,
  res: Response,
  content: {
    view: string
    title: string
    /** A function is called only for a page, to skip work that JSON doesn't need. */
    data: Record<string, unknown> | (() => Record<string, unknown>)
    json: unknown
  },
): void {
  res.vary('Accept')
  const { view, title, data, json } = content
  if (wantsJson(req)) return void sendJson(res, json)
  res.page(view, { title, ...(typeof data === 'function' ? data() : data) })
}

/**
 * Responds to an action. Redirects browsers to a page, which shows the notice once. Sends the result to clients that request JSON.
 */
export async function sendResultOrRedirect(
  req: Request,
  res: Response,
  location: string,
  json: unknown,
  { status = 200, notice, ...rest }: { status?: number; notice?: string } & Omit<Notice, 'text'> = {},
): Promise<void> {
  res.vary('Accept')
  if (wantsJson(req)) return void sendJson(res.status(status), json)
  if (notice !== undefined) req.leaveNotice({ text: notice, ...rest }, location)
  res.redirect(303, location)
}

/**
 * Responds to a form that leads to `location`: a path of this app, or an address on another site. For another site, browsers get a
 * page that opens it automatically and links to it; clients that request JSON get `{location}`. A redirect would fail: browsers
 * apply `form-action` (CSP Level 3) to every redirect after a form post, and the other site may redirect to any host.
 */
export function sendOnward(
  req: Request,
  res: Response,
  location: string,
  page: {
    pageTitle: string
    title: string
    lead: string
    /** Replaces `lead` if the form names a connected business. */
    leadAgain?(name: string): string
    continue: string
  },
): void {
  if (location.startsWith('/') && !wantsJson(req)) return void res.redirect(303, location)
  sendPageOrJson(req, res, {
    view: 'app/onward',
    title: page.pageTitle,
    data: { location, page, bxcontext: req.body?.bxcontext, keepNotice: true },
    json: { location },
  })
}

/**
 * Like `res.json`, but in one write. `res.json` copies the text to a buffer, and sends it separately from the headers (npm run
 * bench, rows of the leads route).
 */
function sendJson(res: Response, json: unknown): void {
  const text = JSON.stringify(json)
  res.setHeader('Content-Type', 'application/json; charset=utf-8')
  res.end(text)
}
