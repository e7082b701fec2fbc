import type { Request, Response } from 'express'
import * as z from 'zod'
import { type createRecordCipher, parseJson } from '../connect/index.ts'
import { sessionCookie } from './session.ts'

/** How long a sign-in may take, in ms. */
const PENDING_MS = 15 * 60_000
/** Browsers keep no longer cookie, in characters, with its name and attributes (RFC 6265, section 6.1). */
const MAX_COOKIE = 3_900
/** What the cookie is encrypted for, so that nothing else of this app can be put in its place. */
const PURPOSE = 'sign-in cookie'

const pendingSignIn = z.object({
  state: z.string(),
  nonce: z.string(),
  codeVerifier: z.string(),
  returnTo: z.string().nullable(),
  /** In ms since 1970. */
  startedAt: z.number(),
})

/** A sign-in that has started in this browser and not finished. */
export type PendingSignIn = z.infer<typeof pendingSignIn>

/**
 * The unfinished sign-ins of a browser, one for each tab, in an encrypted cookie: nothing is stored for a visitor. The newest
 * stay, as many as fit into a cookie.
 */
export function pendingSignIns(cipher: ReturnType<typeof createRecordCipher>, baseUrl: string) {
  const secure = baseUrl.startsWith('https:')
  const name = `${sessionCookie(baseUrl)}-sign-in`
  const options = { httpOnly: true, sameSite: 'lax', secure, path: '/' } as const

  function read(req: Request): PendingSignIn[] {
    const cookie = req.headers.cookie?.split('; ').find((each) => each.startsWith(`${name}=`))
    if (cookie === undefined) return []
    try {
      const text = cipher.decrypt(cookie.slice(name.length + 1), PURPOSE)
      const pending = z.array(pendingSignIn).safeParse(parseJson(text)).data ?? []
      return pending.filter(({ startedAt }) => Date.now() - startedAt < PENDING_MS)
    } catch {
      // Altered, or written with a key that is gone.
      return []
    }
  }

  function write(res: Response, pending: PendingSignIn[]): void {
    if (pending.length === 0) return void res.clearCookie(name, options)
    const value = cipher.encrypt(JSON.stringify(pending), PURPOSE)
    if (value.length > MAX_COOKIE) write(res, pending.slice(1))
    else res.cookie(name, value, { ...options, maxAge: PENDING_MS })
  }

  return {
    /** Remembers one more in this browser. */
    add: (req: Request, res: Response, pending: PendingSignIn) => write(res, [...read(req), pending]),
    /** The one with the state of this request, if there is one. */
    find: (req: Request) => read(req).find(({ state }) => state === req.query.state),
    /** Forgets one in this browser. */
    remove: (req: Request, res: Response, { state }: PendingSignIn) =>
      write(
        res,
        read(req).filter((each) => each.state !== state),
      ),
  }
}
