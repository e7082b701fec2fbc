import type { Request, Response } from 'express'

export interface LiveOptions {
  /** What the page shows, as a text; null ends the stream. */
  look(): Promise<string | null>
  everyMs: number
  /** Ends every stream: the app stops. */
  stopping: AbortSignal
}

const KEEP_ALIVE_MS = 15_000

/** Whether the session of this request still exists: signing out deletes it. */
function isSignedIn(req: Request): Promise<boolean> {
  return new Promise((resolve, reject) => {
    req.sessionStore.get(req.sessionID, (error: unknown, session) =>
      error ? reject(error) : resolve(Boolean(session)),
    )
  })
}

/**
 * Server-sent events (HTML section 9.2). `changed`: the page fetches itself again; `done`: no further updates, or the
 * user has signed out. The content itself is not sent.
 */
export function live(req: Request, res: Response, { look, everyMs, stopping }: LiveOptions): void {
  res.writeHead(200, { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' })
  let before: string | null | undefined
  let quietSince = performance.now()
  let timer: NodeJS.Timeout | undefined

  const send = (text: string) => {
    quietSince = performance.now()
    res.write(text)
  }
  const end = () => {
    clearTimeout(timer)
    stopping.removeEventListener('abort', end)
    res.end()
  }
  async function beat(): Promise<void> {
    try {
      const now = (await isSignedIn(req)) ? await look() : null
      if (res.writableEnded) return
      if (before !== undefined && now !== before) send('event: changed\ndata:\n\n')
      else if (performance.now() - quietSince > KEEP_ALIVE_MS) send(':\n\n')
      before = now
      if (now === null) {
        send('event: done\ndata:\n\n')
        return end()
      }
    } catch (error) {
      // The page stays as it is, and the browser comes back by itself.
      req.log.warn({ requestId: req.id, code: (error as { code?: unknown }).code }, 'live page')
      return end()
    }
    timer = setTimeout(beat, everyMs)
  }

  stopping.addEventListener('abort', end)
  res.once('close', end)
  send('retry: 2000\n\n')
  void beat()
}
