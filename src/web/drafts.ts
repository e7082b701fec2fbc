import { hash } from 'node:crypto'
import type { Request, RequestHandler } from 'express'
import * as z from 'zod'
import { createRecordCipher, type EncryptionKey } from '../connect/index.ts'
import { encryptedCookie } from './encrypted-cookie.ts'
import { localPath } from './return-to.ts'

declare module 'express-serve-static-core' {
  interface Request {
    /** Keeps the values of the form until the user has signed in again. Returns the address of the page with the form. */
    keepDraft?(): string
    /** The draft of this page, if there is one. */
    findDraft?(): Draft | null
    /** Forgets the draft, if there is one. */
    forgetDraft?(): void
  }
}

const draftSchema = z.object({
  /** A digest of the address of the page with the form. `Location` has this address, and the answer has no room for it twice. */
  page: z.string(),
  values: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
})

/** What somebody sent with a form after the session had ended. */
export type Draft = z.infer<typeof draftSchema>

/** How long a draft is kept, in ms. */
const DRAFT_MS = 15 * 60_000
/** The page of a form if the browser does not name it. */
const FIRST_PAGE = '/connections'

/** Adds the methods for drafts to requests. A draft is in an encrypted cookie. If its values do not fit, only its page is kept. */
export function drafts(keys: readonly EncryptionKey[], baseUrl: string): RequestHandler {
  const options = { name: 'draft', schema: draftSchema, ms: DRAFT_MS }
  const cookie = encryptedCookie(createRecordCipher(keys), baseUrl, options)
  return (req, res, next) => {
    req.findDraft = () => {
      const draft = cookie.read(req)
      return draft?.page === digestOf(localPath(req.originalUrl)) ? draft : null
    }
    req.keepDraft = () => {
      const path = pathOfForm(req, baseUrl)
      const page = digestOf(path)
      const values = draftSchema.shape.values.safeParse(req.body).data ?? {}
      if (!cookie.write(res, { page, values }, path)) cookie.write(res, { page, values: {} }, path)
      return path
    }
    req.forgetDraft = () => {
      if (cookie.read(req)) cookie.clear(res)
    }
    next()
  }
}

/** The page with the form is the one that the browser came from. Pages send their address to this app only. */
function pathOfForm(req: Request, baseUrl: string): string {
  const from = URL.parse(req.get('referer') ?? '')
  const path = from?.origin === new URL(baseUrl).origin ? localPath(from.pathname + from.search) : null
  return path ?? FIRST_PAGE
}

const digestOf = (path: string | null) => hash('sha256', path ?? '', 'base64url')
