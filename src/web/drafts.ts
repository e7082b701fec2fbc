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
  /** The page with the form: its path and query. */
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
      return draft && draft.page === localPath(req.originalUrl) ? draft : null
    }
    req.keepDraft = () => {
      const draft = draftOf(req)
      if (!cookie.write(res, draft)) cookie.write(res, { ...draft, values: {} })
      return draft.page
    }
    req.forgetDraft = () => {
      if (cookie.read(req)) cookie.clear(res)
    }
    next()
  }
}

/** The page with the form is the one that the browser came from: pages tell their address to this app only. */
function draftOf(req: Request): Draft {
  const from = URL.parse(req.get('referer') ?? '')
  const page = from && from.host === req.get('host') ? localPath(from.pathname + from.search) : null
  return { page: page ?? FIRST_PAGE, values: draftSchema.shape.values.safeParse(req.body).data ?? {} }
}
