import type { Request, Response } from 'express'

export interface ChangesOptions {
  /** Returns the content of the page as text to compare, or null if there will be no further changes. */
  getSnapshot(): Promise<string | null>
  /** How often to call `getSnapshot`, in ms. */
  everyMs: number
  /** Aborted on shutdown, which closes every stream. */
  shutdownSignal: AbortSignal
}

const KEEP_ALIVE_MS = 15_000

/** Whether the session of this request still exists, since signing out deletes it. */
function isSignedIn(req: Request): Promise<boolean> {
  return new Promise((resolve, reject) => {
    req.sessionStore.get(req.sessionID, (error: unknown, session) =>
      error ? reject(error) : resolve(Boolean(session)),
    )
  })
}

/**
 * Sends server-sent events (HTML standard section 9.2) without content: `changed` if the page should reload its
 * content, `done` if there will be no further updates or the user has signed out.
 */
export function sendChanges(
  req: Request,
  res: Response,
  { getSnapshot, everyMs, shutdownSignal }: ChangesOptions,
): void {
  res.writeHead(200, { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' })
  if (req.method === 'HEAD') return void res.end()
  let previous: string | null | undefined
  let lastSentAt = performance.now()
  let timer: NodeJS.Timeout | undefined

  const send = (text: string) => {
    lastSentAt = performance.now()
    res.write(text)
  }
  const end = () => {
    clearTimeout(timer)
    shutdownSignal.removeEventListener('abort', end)
    res.end()
  }
  async function poll(): Promise<void> {
    try {
      const snapshot = (await isSignedIn(req)) ? await getSnapshot() : null
      if (res.writableEnded) return
      if (previous !== undefined && snapshot !== previous) send('event: changed\ndata:\n\n')
      else if (performance.now() - lastSentAt > KEEP_ALIVE_MS) send(':\n\n')
      previous = snapshot
      if (snapshot === null) {
        send('event: done\ndata:\n\n')
        return end()
      }
    } catch (error) {
      // Close the stream; the browser reconnects.
      req.log.warn({ requestId: req.id, code: (error as { code?: unknown }).code }, 'live update failed')
      return end()
    }
    timer = setTimeout(poll, everyMs)
  }

  shutdownSignal.addEventListener('abort', end)
  res.once('close', end)
  send('retry: 2000\n\n')
  void poll()
}
