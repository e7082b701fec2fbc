import type { Request, Response } from 'express'
import * as z from 'zod'
import { createRecordCipher, type EncryptionKey } from '../connect/index.ts'
import { encryptedCookie } from './encrypted-cookie.ts'
import { localPath } from './return-to.ts'

declare module 'express-serve-static-core' {
  interface Request {
    /** Keeps what a form has sent for after the next sign-in. Returns the path of the page with the form. */
    keepDraft?(): string
    /** The draft of this page, if there is one. */
    findDraft?(): Draft | null
    /** The draft of this page; it is forgotten. */
    takeDraft?(): Draft | null
  }
}

const draftSchema = z.object({
  /** The page with the form. */
  path: z.string(),
  values: z.record(z.string(), z.string()),
})

/** What somebody typed into a form whose session had ended. */
export type Draft = z.infer<typeof draftSchema>

/** How long a draft is kept, in ms. */
const DRAFT_MS = 15 * 60_000

/**
 * Returns a function that gives requests their drafts, which are kept in an encrypted cookie. What does not fit into a cookie is
 * not kept.
 */
export function drafts(keys: readonly EncryptionKey[], baseUrl: string) {
  const options = { name: 'draft', schema: draftSchema, ms: DRAFT_MS }
  const cookie = encryptedCookie(createRecordCipher(keys), baseUrl, options)
  return function addDrafts(req: Request, res: Response): void {
    req.keepDraft = () => {
      const draft = draftOf(req)
      if (!cookie.write(res, draft)) cookie.write(res, { ...draft, values: {} })
      return draft.path
    }
    const find = () => {
      const draft = cookie.read(req)
      return draft?.path === req.path ? draft : null
    }
    req.findDraft = find
    req.takeDraft = () => {
      const draft = find()
      if (draft) cookie.clear(res)
      return draft
    }
  }
}

/** A form is on the page that it posts to, or it names its page in the field `returnTo`; a mere button is on the first page. */
function draftOf(req: Request): Draft {
  const { returnTo, ...fields } = Object(req.body)
  const values: Draft['values'] = {}
  for (const [name, value] of Object.entries(fields)) if (typeof value === 'string') values[name] = value
  const page = Object.values(values).some((value) => value !== '') ? req.path : '/connections'
  return { path: localPath(returnTo) ?? page, values }
}
