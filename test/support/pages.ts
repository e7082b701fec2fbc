import { expect } from 'vitest'
import { format } from '../../src/web/pages/format.ts'
import type { Visitor } from './visitor.ts'

/** Converts a text to the form that `visitor` reads from HTML, so that tests can compare pages with the product's own texts. */
export const shown = (text: string): string => format.sentence(text).replaceAll(/<\/?bdi[^>]*>/g, '')

/** The parts of a text around a value that the test doesn't know. */
export const around = (text: (value: string) => string): string[] => shown(text('§')).split('§')

/** A page has these texts, one after another. */
export const expectInOrder = (html: string, ...texts: readonly string[]) =>
  expect(html).toMatch(new RegExp(texts.map((text) => RegExp.escape(shown(text))).join('[\\s\\S]*')))

/** A page is HTML for a browser and JSON for a client that asks for it, at one address. */
export async function expectBothFormats(visitor: Visitor, url: string, heading: string): Promise<void> {
  const html = await visitor.get(url, { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' })
  expect(html.headers.get('content-type')).toMatch(/^text\/html/)
  expect(html.text).toContain(`<h1>${shown(heading)}</h1>`)
  const json = await visitor.get(url, { accept: 'application/json' })
  expect(json.headers.get('content-type')).toMatch(/^application\/json/)
  expect(json.headers.get('vary')).toContain('Accept')
}
