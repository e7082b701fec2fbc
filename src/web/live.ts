import { hash } from 'node:crypto'
import type { Response } from 'express'
import * as z from 'zod'

/** The answer of the address that an open page asks. The page has that address in `data-live` of its element `#live`. */
export const versionSchema = z.object({ version: z.string() })

/**
 * Tells an open page whether it is still up to date. While the page is visible, `live.js` asks every second, and fetches the page
 * again if the version has changed. `content`: what the page shows.
 */
export function sendVersion(res: Response, content: unknown): void {
  res.json({ version: hash('sha256', JSON.stringify(content), 'base64url') })
}
