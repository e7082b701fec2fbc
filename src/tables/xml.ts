import { SaxesParser } from 'saxes'
import { UnreadableFileError } from './errors.ts'
import { texts } from './texts.ts'

export type Attributes = Readonly<Record<string, string>>

/** Handlers for the elements of an XML document. Names are without their namespace prefix. */
export interface XmlEvents {
  open(name: string, attributes: Attributes): void
  text?(text: string): void
  close?(name: string): void
}

const localName = (name: string) => name.slice(name.indexOf(':') + 1)

/** An attribute by its name without a namespace prefix, such as `id` for `r:id`. */
export function attribute(attributes: Attributes, name: string): string | undefined {
  return attributes[name] ?? Object.entries(attributes).find(([key]) => localName(key) === name)?.[1]
}

/** Limits of what the parser keeps in memory: the characters of one tag, text or comment, and the depth of elements. */
const MAX_TOKEN = 1_000_000
const MAX_DEPTH = 100

/** The error for a workbook that unpacks to more than a price file has. */
export const hostile = () => new UnreadableFileError(1, texts.unreadable.hugeWorkbook)

/**
 * Parses XML and yields after every chunk, so that the caller can take what was found. Throws the errors of the handlers,
 * `UnreadableFileError` for a document type, which could define endless entities, and for a text, a tag or a depth beyond
 * the limits, and an error for malformed XML.
 */
export async function* parseXml(source: AsyncIterable<Buffer>, events: XmlEvents): AsyncGenerator<void> {
  const parser = new SaxesParser({ position: false, xmlns: false as const })
  /** Characters since the last event: the parser keeps them all until the next one. */
  let pending = 0
  let depth = 0
  const text = (content: string) => {
    pending = 0
    events.text?.(content)
  }
  parser.on('opentag', ({ name, attributes }) => {
    pending = 0
    if (++depth > MAX_DEPTH) throw hostile()
    events.open(localName(name), attributes)
  })
  parser.on('text', text)
  parser.on('cdata', text)
  parser.on('closetag', ({ name }) => {
    pending = 0
    depth--
    events.close?.(localName(name))
  })
  parser.on('doctype', () => {
    throw new UnreadableFileError(1, texts.unreadable.documentType)
  })
  parser.on('error', (error) => {
    throw error
  })
  const decoder = new TextDecoder()
  for await (const bytes of source) {
    pending += bytes.length
    parser.write(decoder.decode(bytes, { stream: true }))
    if (pending > MAX_TOKEN) throw hostile()
    yield
  }
  parser.write(decoder.decode()).close()
}
