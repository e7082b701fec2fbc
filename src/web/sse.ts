import type { Request, Response } from 'express'
import { AppError } from '../connect/errors.ts'
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
  userId: string
  /** By `performance.now()`. */
  lastSentAt: number
}

/** The streams of one user on one page are served by one poll. */
interface Poll {
  streams: Set<Stream>
  /** The last snapshot; undefined before the first. */
  previous: string | null | undefined
  timer: NodeJS.Timeout | undefined
}

const KEEP_ALIVE_MS = 15_000
const MAX_STREAMS_OF_SESSION = 8
const MAX_STREAMS_OF_USER = 30
/** When a browser reconnects, in ms; later if its stream was closed for a newer one. */
const RECONNECT_MS = 2_000
const RECONNECT_REPLACED_MS = 60_000

/** Creates the streams of an app. `shutdownSignal`: aborted on shutdown, which closes every stream. */
export function createChangeStreams(shutdownSignal: AbortSignal): SendChanges {
  /** The oldest first. */
  const open = new Set<Stream>()
  /** By user and path. */
  const polls = new Map<string, Poll>()
  shutdownSignal.addEventListener('abort', () => {
    for (const { res } of open) res.end()
  })
  return (req, res, options) => {
    const userId = requireUser(req)
    // The browser left while the session was loaded: no event would ever remove this stream.
    if (res.closed) return
    res.writeHead(200, { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' })
    if (req.method === 'HEAD' || shutdownSignal.aborted) return void res.end()
    const stream: Stream = { req, res, userId, lastSentAt: 0 }
    open.add(stream)
    send(stream, `retry: ${RECONNECT_MS}\n\n`)
    const ofUser = [...open].filter((each) => each.userId === userId && !each.res.writableEnded)
    const ofSession = ofUser.filter((each) => each.req.sessionID === req.sessionID)
    closeOldest(ofSession, MAX_STREAMS_OF_SESSION)
    closeOldest(ofUser, MAX_STREAMS_OF_USER)
    const page = JSON.stringify([userId, req.originalUrl])
    const poll = polls.get(page) ?? { streams: new Set(), previous: undefined, timer: undefined }
    poll.streams.add(stream)
    if (!polls.has(page)) void run(poll, options)
    polls.set(page, poll)
    res.once('close', () => {
      open.delete(stream)
      poll.streams.delete(stream)
      if (poll.streams.size > 0) return
      clearTimeout(poll.timer)
      polls.delete(page)
    })
  }
}

/** Closes the oldest streams, so that at most `max` are left. */
function closeOldest(streams: readonly Stream[], max: number): void {
  for (const stream of streams.slice(0, Math.max(0, streams.length - max))) {
    send(stream, `retry: ${RECONNECT_REPLACED_MS}\n\n`)
    stream.res.end()
  }
}

async function run(poll: Poll, options: ChangesOptions): Promise<void> {
  const { streams } = poll
  try {
    await endSignedOut(streams)
    const snapshot = await options.getSnapshot()
    const isChanged = poll.previous !== undefined && snapshot !== poll.previous
    poll.previous = snapshot
    for (const stream of streams) {
      if (isChanged) send(stream, 'event: changed\ndata:\n\n')
      else if (performance.now() - stream.lastSentAt > KEEP_ALIVE_MS) send(stream, ':\n\n')
      if (snapshot === null) end(stream)
    }
  } catch (error) {
    // Close the streams; the browsers reconnect.
    for (const { req, res } of streams) {
      req.log.warn(
        { requestId: req.id, code: error instanceof AppError ? error.code : undefined },
        'live update failed',
      )
      res.end()
    }
  }
  if (streams.size > 0) poll.timer = setTimeout(() => void run(poll, options), options.everyMs)
}

/** Ends the streams of sessions that no longer exist, since signing out deletes them. */
async function endSignedOut(streams: ReadonlySet<Stream>): Promise<void> {
  for (const [, ofSession] of Map.groupBy(streams, ({ req }) => req.sessionID)) {
    const [first] = ofSession
    if (!first || (await isSignedIn(first.req))) continue
    for (const stream of ofSession) end(stream)
  }
}

const isSignedIn = (req: Request): Promise<boolean> =>
  new Promise((resolve, reject) => {
    req.sessionStore.get(req.sessionID, (error: unknown, session) =>
      error ? reject(error) : resolve(Boolean(session)),
    )
  })

/** Ends a stream. When it has closed, it leaves its poll. */
function end(stream: Stream): void {
  send(stream, 'event: done\ndata:\n\n')
  stream.res.end()
}

function send(stream: Stream, text: string): void {
  if (stream.res.writableEnded) return
  stream.lastSentAt = performance.now()
  stream.res.write(text)
}
