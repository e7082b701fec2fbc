import { expect } from 'vitest'
import type { Visitor } from './visitor.ts'

/** A page is HTML for a browser and JSON for a client that asks for it, at one address. */
export async function expectBothFormats(visitor: Visitor, url: string, heading: string): Promise<void> {
  const html = await visitor.get(url, { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' })
  expect(html.headers.get('content-type')).toMatch(/^text\/html/)
  expect(html.text).toContain(`<h1>${heading}</h1>`)
  const json = await visitor.get(url, { accept: 'application/json' })
  expect(json.headers.get('content-type')).toMatch(/^application\/json/)
  expect(json.headers.get('vary')).toContain('Accept')
}
