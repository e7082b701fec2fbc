import type { Request, Response } from 'express'
import { requireUser } from './user.ts'

export interface ChangesOptions {
  /**
   * Returns the content of the page as text to compare, or null if there will be no further changes. One call serves all
   * streams of this user and page.
   */
  getSnapshot(): Promise<string | null>
  /** How often to call `getSnapshot`, in ms. */
  everyMs: number
}

/**
 * Sends server-sent events (HTML standard section 9.2) without content to the signed-in user: `changed` if the page should
 * reload its content, `done` if there will be no further updates or the user has signed out. Throws `unauthenticated` (401).
 */
export type SendChanges = (req: Request, res: Response, options: ChangesOptions) => void

interface Stream {
  req: Request
  res: Response
  /** By `performance.now()`. */
  lastSentAt: number
}

/** The streams of one user on one page, which share a poll. */
interface Page {
  streams: Set<Stream>
  /** The snapshot of the last poll; undefined before the first. */
  previous: string | null | undefined
  timer: NodeJS.Timeout | undefined
}

interface User {
  /** The oldest first. */
  streams: Stream[]
  /** By path. */
  pages: Map<string, Page>
}

const KEEP_ALIVE_MS = 15_000
const MAX_STREAMS_OF_SESSION = 8
const MAX_STREAMS_OF_USER = 30
/** When a browser reconnects, in ms; later if its stream was closed for a newer one. */
const RECONNECT_MS = 2_000
const RECONNECT_REPLACED_MS = 60_000

/** Creates the streams of an app. `shutdownSignal`: aborted on shutdown, which closes every stream. */
export function createChangeStreams(shutdownSignal: AbortSignal): SendChanges {
  const users = new Map<string, User>()
  shutdownSignal.addEventListener('abort', () => {
    for (const { streams } of users.values()) for (const { res } of [...streams]) res.end()
  })
  return (req, res, options) => {
    const userId = requireUser(req)
    // The browser left while the session was loaded: no event would ever remove this stream.
    if (res.closed) return
    res.writeHead(200, { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' })
    if (req.method === 'HEAD' || shutdownSignal.aborted) return void res.end()
    const user: User = users.get(userId) ?? { streams: [], pages: new Map() }
    users.set(userId, user)
    const stream: Stream = { req, res, lastSentAt: 0 }
    user.streams.push(stream)
    send(stream, `retry: ${RECONNECT_MS}\n\n`)
    closeOldest(user, ({ req: { sessionID } }) => sessionID === req.sessionID, MAX_STREAMS_OF_SESSION)
    closeOldest(user, () => true, MAX_STREAMS_OF_USER)
    const leavePage = joinPage(user, req.originalUrl, stream, options)
    res.once('close', () => {
      user.streams.splice(user.streams.indexOf(stream), 1)
      leavePage()
      if (user.streams.length === 0) users.delete(userId)
    })
  }
}

/** Closes the oldest of the streams that count, so that at most `max` of them are left. */
function closeOldest({ streams }: User, counts: (stream: Stream) => boolean, max: number): void {
  const open = streams.filter((stream) => counts(stream) && !stream.res.writableEnded)
  for (const stream of open.slice(0, Math.max(0, open.length - max))) {
    send(stream, `retry: ${RECONNECT_REPLACED_MS}\n\n`)
    stream.res.end()
  }
}

/** Adds a stream to the page's poll, which it starts if it is the first. Returns a function that removes it. */
function joinPage({ pages }: User, path: string, stream: Stream, options: ChangesOptions): () => void {
  const page: Page = pages.get(path) ?? { streams: new Set(), previous: undefined, timer: undefined }
  page.streams.add(stream)
  if (!pages.has(path)) {
    pages.set(path, page)
    void poll(page, options)
  }
  return () => {
    page.streams.delete(stream)
    if (page.streams.size > 0) return
    clearTimeout(page.timer)
    pages.delete(path)
  }
}

async function poll(page: Page, options: ChangesOptions): Promise<void> {
  try {
    await endSignedOut(page)
    const snapshot = await options.getSnapshot()
    const isChanged = page.previous !== undefined && snapshot !== page.previous
    page.previous = snapshot
    for (const stream of page.streams) {
      if (isChanged) send(stream, 'event: changed\ndata:\n\n')
      else if (performance.now() - stream.lastSentAt > KEEP_ALIVE_MS) send(stream, ':\n\n')
      if (snapshot === null) end(stream)
    }
  } catch (error) {
    // Close the streams; the browsers reconnect.
    for (const { req, res } of page.streams) {
      req.log.warn({ requestId: req.id, code: (error as { code?: unknown }).code }, 'live update failed')
      res.end()
    }
  }
  if (page.streams.size > 0) page.timer = setTimeout(() => void poll(page, options), options.everyMs)
}

/** Ends the streams of sessions that no longer exist, since signing out deletes them. */
async function endSignedOut(page: Page): Promise<void> {
  for (const [, [first, ...others]] of Map.groupBy(page.streams, ({ req }) => req.sessionID)) {
    if (!first || (await isSignedIn(first.req))) continue
    for (const stream of [first, ...others]) end(stream)
  }
}

function isSignedIn(req: Request): Promise<boolean> {
  return new Promise((resolve, reject) => {
    req.sessionStore.get(req.sessionID, (error: unknown, session) =>
      error ? reject(error) : resolve(Boolean(session)),
    )
  })
}

/** Ends a stream. When it has closed, it leaves its page. */
function end(stream: Stream): void {
  send(stream, 'event: done\ndata:\n\n')
  stream.res.end()
}

function send(stream: Stream, text: string): void {
  if (stream.res.writableEnded) return
  stream.lastSentAt = performance.now()
  stream.res.write(text)
}
