import type { Request, Response } from 'express'
import type { NoticeTone } from './notice.ts'

/** True for a client that asks for JSON; a browser, or a client without a preference, gets HTML. */
export function wantsJson(req: Request): boolean {
  return req.accepts(['html', 'json', 'application/problem+json']) !== 'html'
}

/** Sends a page to a browser, and the same as JSON to a client that asks for it. */
export function sendPageOrJson(
  req: Request,
  res: Response,
  answer: {
    view: string
    title: string
    data: Record<string, unknown>
    json: unknown
  },
): void {
  res.vary('Accept')
  if (wantsJson(req)) return void res.json(answer.json)
  res.page(answer.view, { title: answer.title, ...answer.data })
}

/**
 * After an action: redirects a browser to a page, which shows the notice once; a client that asks for JSON gets the
 * result.
 */
export async function sendResultOrRedirect(
  req: Request,
  res: Response,
  location: string,
  json: unknown,
  { status = 200, notice, tone }: { status?: number; notice?: string; tone?: NoticeTone | undefined } = {},
): Promise<void> {
  res.vary('Accept')
  if (wantsJson(req)) return void res.status(status).json(json)
  if (notice !== undefined) await req.leaveNotice(notice, tone)
  res.redirect(303, location)
}
