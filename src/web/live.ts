import { hash } from 'node:crypto'
import type { Response } from 'express'
import * as z from 'zod'

/** The answer of an address that an open page asks, in `data-live` of its `#live`. */
export const versionSchema = z.object({ version: z.string() })

/**
 * Tells an open page whether it is still up to date: `live.js` asks every second while the page is visible, and fetches the page
 * again if the version is another one. `content`: what the page shows.
 */
export function sendVersion(res: Response, content: unknown): void {
  res.json({ version: hash('sha256', JSON.stringify(content), 'base64url') })
}
