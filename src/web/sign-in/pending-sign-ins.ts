import type { Request, Response } from 'express'
import * as z from 'zod'
import type { RecordCipher } from '../../connect/index.ts'
import { cookieName, cookiesOf, encryptedCookie } from './encrypted-cookie.ts'

/** How long a sign-in may take, in ms. */
const PENDING_MS = 15 * 60_000
/**
 * The most bytes of older sign-ins that a browser keeps. By default, nginx accepts 8 kB of cookies (`large_client_header_buffers`):
 * room is left for the newest sign-in, of at most 2 kB, and for other cookies.
 */
const MAX_OLDER_BYTES = 5_000

const pendingSignIn = z.object({
  state: z.string(),
  nonce: z.string(),
  codeVerifier: z.string(),
  returnTo: z.string().nullable(),
  /** In ms since 1970. */
  startedAt: z.number(),
})
/** A sign-in that has started in this browser but not finished. */
export type PendingSignIn = z.infer<typeof pendingSignIn>

/** The state of a sign-in is always a text. */
const callbackSchema = z.object({ state: z.string().catch('') })

/**
 * The unfinished sign-ins of a browser, one for each tab. Each has a cookie of its own, because tabs that start at the same time
 * would overwrite a cookie that they share.
 */
export function pendingSignIns(cipher: RecordCipher, baseUrl: string) {
  const cookieOf = (state: string) =>
    encryptedCookie(cipher, baseUrl, { name: `sign-in-${state}`, schema: pendingSignIn, ms: PENDING_MS })
  const stateInCookie = new RegExp(`^${cookieName(baseUrl, 'sign-in-')}([\\w-]+)=`)

  /** Clears the oldest sign-ins that don't fit. Browsers send the oldest cookies first (RFC 6265, section 5.4). */
  function clearOldest(req: Request, res: Response): void {
    let bytes = 0
    for (const cookie of cookiesOf(req).reverse()) {
      const state = stateInCookie.exec(cookie)?.[1]
      if (state === undefined) continue
      bytes += cookie.length
      if (bytes > MAX_OLDER_BYTES) cookieOf(state).clear(res)
    }
  }

  return {
    /** Adds a sign-in in this browser. `location`: the address to which this answer redirects. */
    add(req: Request, res: Response, pending: PendingSignIn, location: string): void {
      cookieOf(pending.state).write(res, pending, location)
      clearOldest(req, res)
    },
    /** Finds the sign-in with the state of this request. Null if it is unknown, or took too long. */
    find(req: Request): PendingSignIn | null {
      const pending = cookieOf(callbackSchema.parse(req.query).state).read(req)
      return pending && Date.now() - pending.startedAt < PENDING_MS ? pending : null
    },
    /** Removes a sign-in in this browser, so that its callback counts once. */
    remove: (res: Response, { state }: PendingSignIn): void => cookieOf(state).clear(res),
  }
}
