import type { Request, Response } from 'express'

/** True for a client that asks for JSON; a browser, or a client without a wish, gets HTML. */
export function wantsJson(req: Request): boolean {
  return req.accepts(['html', 'json', 'application/problem+json']) !== 'html'
}

/** Answers a page to a browser and the same as JSON to a client that asks for it. */
export function respond(
  req: Request,
  res: Response,
  answer: { view: string; title: string; data: Record<string, unknown>; json: unknown },
): void {
  res.vary('Accept')
  if (wantsJson(req)) res.json(answer.json)
  else res.page(answer.view, { title: answer.title, ...answer.data })
}

/** After an action: the browser goes on to a page, a client that asks for JSON gets the result. */
export function done(req: Request, res: Response, to: string, json: unknown, status = 200): void {
  res.vary('Accept')
  if (wantsJson(req)) res.status(status).json(json)
  else res.redirect(303, to)
}
