import type { Request, Response } from 'express'
import * as z from 'zod'
import type { RecordCipher } from '../../connect/index.ts'
import { encryptedCookie } from './encrypted-cookie.ts'

/** How long a sign-in may take, in ms. */
const PENDING_MS = 15 * 60_000

const pendingSignIn = z.object({
  state: z.string(),
  nonce: z.string(),
  codeVerifier: z.string(),
  returnTo: z.string().nullable(),
  /** In ms since 1970. */
  startedAt: z.number(),
})

/** The state of a sign-in is always a text. */
const callbackSchema = z.object({ state: z.string().optional().catch(undefined) })

/** A sign-in that has started in this browser but not finished. */
export type PendingSignIn = z.infer<typeof pendingSignIn>

/** The unfinished sign-ins of a browser, one for each tab, in an encrypted cookie. The oldest are dropped if they don't fit. */
export function pendingSignIns(cipher: RecordCipher, baseUrl: string) {
  const options = { name: 'sign-in', schema: z.array(pendingSignIn), ms: PENDING_MS }
  const cookie = encryptedCookie(cipher, baseUrl, options)

  const read = (req: Request): PendingSignIn[] =>
    (cookie.read(req) ?? []).filter(({ startedAt }) => Date.now() - startedAt < PENDING_MS)

  function write(res: Response, pending: PendingSignIn[], location: string): void {
    if (pending.length === 0) cookie.clear(res)
    else if (!cookie.write(res, pending, location)) write(res, pending.slice(1), location)
  }

  return {
    /** Adds a sign-in in this browser. `location`: the address to which this answer redirects. */
    add: (req: Request, res: Response, pending: PendingSignIn, location: string) =>
      write(res, [...read(req), pending], location),
    /** Finds the sign-in with the state of this request, if there is one. */
    find(req: Request) {
      const { state } = callbackSchema.parse(req.query)
      return read(req).find((each) => each.state === state)
    },
    /** Removes a sign-in in this browser. This answer redirects to the page to which the sign-in returns. */
    remove: (req: Request, res: Response, { state, returnTo }: PendingSignIn) => {
      const others = read(req).filter((each) => each.state !== state)
      write(res, others, returnTo ?? '/')
    },
  }
}
