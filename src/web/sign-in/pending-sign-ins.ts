import type { Request, Response } from 'express'
import * as z from 'zod'
import { parseJson, type RecordCipher } from '../../connect/index.ts'
import { cookieOptions, sessionCookie } from './session.ts'

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

/** The cookies of a request, each as `name=value`. */
const cookiesOf = (req: Request): string[] => req.headers.cookie?.split('; ') ?? []

/**
 * The unfinished sign-ins of a browser, one for each tab. The server stores none of them: each is in an encrypted cookie of its own,
 * because tabs that start at the same time would overwrite a cookie that they share.
 */
export function pendingSignIns(cipher: RecordCipher, baseUrl: string) {
  const prefix = `${sessionCookie(baseUrl)}-sign-in-`
  const options = cookieOptions(baseUrl)
  // The encryption is bound to the name, so that other encrypted texts of this app are not accepted.
  const purposeOf = (state: string) => `cookie ${prefix}${state}`

  /** Clears the oldest sign-ins that don't fit. Browsers send the oldest cookies first (RFC 6265, section 5.4). */
  function clearOldest(req: Request, res: Response): void {
    let bytes = 0
    for (const cookie of cookiesOf(req).reverse()) {
      if (!cookie.startsWith(prefix)) continue
      bytes += cookie.length
      if (bytes > MAX_OLDER_BYTES) res.clearCookie(cookie.replace(/=.*/, ''), options)
    }
  }

  return {
    /** Adds a sign-in in this browser. */
    add(req: Request, res: Response, pending: PendingSignIn): void {
      const text = cipher.encrypt(JSON.stringify(pending), purposeOf(pending.state))
      res.cookie(prefix + pending.state, text, { ...options, maxAge: PENDING_MS })
      clearOldest(req, res)
    },
    /** Finds the sign-in with the state of this request. Null if it is unknown, or took too long. */
    find(req: Request): PendingSignIn | null {
      const { state } = callbackSchema.parse(req.query)
      const start = `${prefix}${state}=`
      const cookie = cookiesOf(req).find((each) => each.startsWith(start))
      if (cookie === undefined) return null
      try {
        const text = cipher.decrypt(cookie.slice(start.length), purposeOf(state))
        const pending = pendingSignIn.parse(parseJson(text))
        return Date.now() - pending.startedAt < PENDING_MS ? pending : null
      } catch {
        // Altered, or encrypted with a key that was removed.
        return null
      }
    },
    /** Removes a sign-in in this browser, so that its callback counts once. */
    remove: (res: Response, { state }: PendingSignIn): void => void res.clearCookie(prefix + state, options),
  }
}
