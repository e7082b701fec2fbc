import { hash } from 'node:crypto'
import type { Response } from 'express'

/**
 * Tells an open page whether it is still up to date. While the page is visible, `live.js` asks the address in the `data-live` of
 * `#live` every few seconds, and fetches the page again if the version has changed. `content`: the page's content.
 */
export function sendVersion(res: Response, content: unknown): void {
  res.json({ version: hash('sha256', JSON.stringify(content), 'base64url') })
}
