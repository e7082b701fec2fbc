import { hash } from 'node:crypto'
import type { Request, RequestHandler } from 'express'
import * as z from 'zod'
import { createRecordCipher, type EncryptionKey } from '../connect/index.ts'
import { encryptedCookie } from './encrypted-cookie.ts'
import { localPath } from './return-to.ts'

declare module 'express-serve-static-core' {
  interface Request {
    /** Keeps what a form has sent for after the next sign-in. Returns the address of the page with the form. */
    keepDraft?(): string
    /** The draft of this page, if there is one. */
    findDraft?(): Draft | null
    /** Forgets the draft, if there is one. */
    forgetDraft?(): void
  }
}

const draftSchema = z.object({
  /** The page with the form: a digest of its path and query, which the answer that sets the cookie has in full. */
  page: z.string(),
  values: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
})

/** What somebody typed into a form whose session had ended. */
export type Draft = z.infer<typeof draftSchema>

/** How long a draft is kept, in ms. */
const DRAFT_MS = 15 * 60_000
/** Where a form is whose browser does not say it. */
const FIRST_PAGE = '/connections'

/**
 * Gives requests their drafts, which are kept in an encrypted cookie. Of what does not fit into a cookie,
 * only the page is kept.
 */
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

/** The page with the form is the one that the browser came from: pages tell their address to this app only. */
function pathOfForm(req: Request, baseUrl: string): string {
  const from = URL.parse(req.get('referer') ?? '')
  const path = from?.origin === new URL(baseUrl).origin ? localPath(from.pathname + from.search) : null
  return path ?? FIRST_PAGE
}

const digestOf = (path: string | null) => hash('sha256', path ?? '', 'base64url')
