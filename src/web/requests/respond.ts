import type { Request, Response } from 'express'
import * as z from 'zod'

export const noticeSchema = z.object({
  text: z.string(),
  /** `good`: the action succeeded. `wait`: something is left to do, or to try again later. Defaults to `good`. */
  tone: z.enum(['good', 'wait']).optional(),
  /** Shown behind the text. */
  link: z.object({ href: z.string(), label: z.string() }).optional(),
  /** The bxcontext of the business that can be connected again. */
  connectAgain: z.string().optional(),
  /** Details for developers, which the page shows collapsed. */
  details: z.string().optional(),
})
export type Notice = z.infer<typeof noticeSchema>

/** Whether the client prefers JSON. Browsers and clients without a preference get HTML. */
export function wantsJson(req: Request): boolean {
  // Programs send exactly this, and it saves the time of a negotiation (npm run bench, rows of the leads route).
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
    /** A function is called only for a page, to make what JSON does not need. */
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
 * Responds to an action: redirects browsers to a page, which shows the notice once, or sends the result to clients that
 * request JSON.
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
 * Responds to a form that leads elsewhere: `location` is a path of ours, or an address on another site. For another site,
 * browsers get a page that goes on automatically and has a link; clients that request JSON get `{location}`. A redirect to another
 * site would fail. Browsers apply `form-action` (CSP Level 3) to every redirect after a form post, and the other site may
 * redirect to hosts that cannot be listed.
 */
export function sendOnward(
  req: Request,
  res: Response,
  location: string,
  page: {
    pageTitle: string
    title: string
    lead: string
    /** Replaces `lead` if the form names a business that is connected. */
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
 * Like `res.json`, but in one write: `res.json` copies the text to a buffer and sends it separately from the headers (npm run
 * bench, rows of the leads route).
 */
function sendJson(res: Response, json: unknown): void {
  const text = JSON.stringify(json)
  res.setHeader('Content-Type', 'application/json; charset=utf-8')
  res.end(text)
}
