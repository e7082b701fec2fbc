import { SaxesParser } from 'saxes'

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

/**
 * Parses XML and yields after every chunk, so that the caller can take what was found. Throws the errors of the handlers, and an
 * error for malformed XML, also for an entity that is not predefined: those of a document type are not read.
 */
export async function* parseXml(source: AsyncIterable<Buffer>, events: XmlEvents): AsyncGenerator<void> {
  const parser = new SaxesParser({ position: false, xmlns: false as const })
  const text = (content: string) => events.text?.(content)
  parser.on('opentag', ({ name, attributes }) => events.open(localName(name), attributes))
  parser.on('text', text)
  parser.on('cdata', text)
  parser.on('closetag', ({ name }) => events.close?.(localName(name)))
  parser.on('error', (error) => {
    throw error
  })
  const decoder = new TextDecoder()
  for await (const bytes of source) {
    parser.write(decoder.decode(bytes, { stream: true }))
    yield
  }
  parser.write(decoder.decode()).close()
}
