import type { Readable } from 'node:stream'
import sax, { type Tag } from 'sax'
import { UnreadableFileError } from './errors.ts'

/** Handlers for the elements of an XML document. Names are without their namespace prefix. */
export interface XmlEvents {
  open(name: string, attributes: Tag['attributes']): void
  text?(text: string): void
  close?(name: string): void
}

const localName = (name: string) => name.slice(name.indexOf(':') + 1)

/** An attribute by its name without a namespace prefix, such as `id` for `r:id`. */
export function attribute(attributes: Tag['attributes'], name: string): string | undefined {
  return attributes[name] ?? Object.entries(attributes).find(([key]) => localName(key) === name)?.[1]
}

/**
 * Parses XML and yields after every chunk, so that the caller can take what was found. Throws the errors of the handlers,
 * `UnreadableFileError` for a document type, which could define endless entities, and an error for malformed XML.
 */
export async function* parseXml(source: Readable, events: XmlEvents): AsyncGenerator<void> {
  const parser = sax.parser(true, { trim: false, normalize: false })
  parser.onopentag = ({ name, attributes }) => events.open(localName(name), attributes as Tag['attributes'])
  parser.ontext = (text) => events.text?.(text)
  parser.oncdata = (text) => events.text?.(text)
  parser.onclosetag = (name) => events.close?.(localName(name))
  parser.ondoctype = () => {
    throw new UnreadableFileError(1, 'the workbook has a document type, which no spreadsheet writes.')
  }
  parser.onerror = (error) => {
    throw error
  }
  const decoder = new TextDecoder()
  for await (const bytes of source) {
    parser.write(decoder.decode(bytes, { stream: true }))
    yield
  }
  parser.write(decoder.decode()).close()
}
