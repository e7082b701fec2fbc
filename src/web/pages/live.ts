import { hash } from 'node:crypto'
import type { Response } from 'express'

/**
 * Tells an open page whether it is still up to date. The page has the address that it asks in `data-live` of its element `#live`.
 * While the page is visible, `live.js` asks every second, and fetches the page again if the version has changed. `content`: what the page shows.
 */
export function sendVersion(res: Response, content: unknown): void {
  res.json({ version: hash('sha256', JSON.stringify(content), 'base64url') })
}
