import { setTimeout as pause } from 'node:timers/promises'
import type { Request, Response } from 'express'
import { AppError, ConnectionRevokedError, NotConnectedError } from '../connect/errors.ts'
import { requireUser } from './user.ts'

export interface ChangesOptions {
  /** Returns the content of the page as text to compare, or null if there will be no further changes. */
  getSnapshot(): Promise<string | null>
  /** How often to call `getSnapshot`, in ms. */
  everyMs: number
}

/**
 * Sends server-sent events (HTML standard section 9.2) without content to the signed-in user. `changed`: the page should reload
 * its content. `done`: there will be no further updates, the user has signed out, or the connection of the page has ended. Throws
 * `unauthenticated` (401).
 */
export type SendChanges = (req: Request, res: Response, options: ChangesOptions) => void

const KEEP_ALIVE_MS = 15_000
/** Only visible tabs have a stream. */
const MAX_STREAMS_OF_USER = 8
/** When a browser reconnects, in ms; later if its stream was closed for a newer one. */
const RECONNECT_MS = 2_000
const RECONNECT_REPLACED_MS = 60_000

/** Creates the streams of an app. `shutdownSignal`: aborted on shutdown, which closes every stream. */
export function createChangeStreams(shutdownSignal: AbortSignal): SendChanges {
  /** The oldest first. */
  const open = new Set<{ userId: string; res: Response }>()
  shutdownSignal.addEventListener('abort', () => {
    for (const { res } of open) res.end()
  })
  return (req, res, options) => {
    const userId = requireUser(req)
    // The browser left while the session was loaded: no event would ever remove this stream.
    if (res.closed) return
    res.writeHead(200, { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' })
    if (req.method === 'HEAD' || shutdownSignal.aborted) return void res.end()
    const stream = { userId, res }
    open.add(stream)
    res.once('close', () => open.delete(stream))
    const ofUser = [...open].filter((each) => each.userId === userId && !each.res.writableEnded)
    for (const oldest of ofUser.slice(0, -MAX_STREAMS_OF_USER))
      oldest.res.end(`retry: ${RECONNECT_REPLACED_MS}\n\n`)
    void run(req, res, options)
  }
}

/** Compares until the stream is closed. If that fails, the stream is closed, and the browser reconnects. */
async function run(req: Request, res: Response, { getSnapshot, everyMs }: ChangesOptions): Promise<void> {
  let previous: string | undefined
  let sentAt = 0
  const send = (text: string) => {
    sentAt = performance.now()
    res.write(text)
  }
  send(`retry: ${RECONNECT_MS}\n\n`)
  try {
    while (!res.writableEnded && !res.closed) {
      const snapshot = (await isAllowed(req)) ? await getSnapshot() : null
      if (res.writableEnded) return
      if (previous !== undefined && snapshot !== previous) send('event: changed\ndata:\n\n')
      else if (performance.now() - sentAt > KEEP_ALIVE_MS) send(':\n\n')
      if (snapshot === null) return void res.end('event: done\ndata:\n\n')
      previous = snapshot
      await pause(everyMs)
    }
  } catch (error) {
    const code = error instanceof AppError ? error.code : undefined
    req.log.warn({ requestId: req.id, code }, 'live update failed')
    res.end()
  }
}

/** Whether the user is still signed in, and the connection of the page is still there. */
async function isAllowed(req: Request): Promise<boolean> {
  if (!(await isSignedIn(req))) return false
  try {
    await req.guarded?.check()
    return true
  } catch (error) {
    if (error instanceof NotConnectedError || error instanceof ConnectionRevokedError) return false
    throw error
  }
}

/** Signing out deletes the session. */
const isSignedIn = ({ sessionStore, sessionID }: Request): Promise<boolean> =>
  new Promise((resolve, reject) => {
    sessionStore.get(sessionID, (error: unknown, session) =>
      error ? reject(error) : resolve(Boolean(session)),
    )
  })
