import { SaxesParser } from 'saxes'

/** An element of an XML document. Names are without their namespace prefix. */
export interface Element {
  name: string
  attributes: Readonly<Record<string, string>>
  parent: Element | undefined
  /** The text after its last child. */
  text: string
}

/** Returns a name without its namespace prefix. */
export const localName = (name: string) => name.slice(name.indexOf(':') + 1)

/** Whether a flag (xsd:boolean) is set. `absent`: the result if the flag is absent. */
export const isSet = (flag: string | undefined, absent = false): boolean =>
  flag === undefined ? absent : flag === '1' || flag === 'true'

/**
 * Parses XML, calls `onEnd` at the end of each element, and yields after every chunk, so that the caller can take what was found.
 * Throws the errors of `onEnd`, and an error for malformed XML. An entity that is not predefined counts as malformed, because
 * document types are not read.
 */
export async function* parseXml(
  source: AsyncIterable<Buffer>,
  onEnd: (element: Element) => void,
): AsyncGenerator<void> {
  const parser = new SaxesParser({ position: false, xmlns: false as const })
  let current: Element | undefined
  const addText = (text: string) => {
    if (current) current.text += text
  }
  parser.on('opentag', ({ name, attributes }) => {
    current = { name: localName(name), attributes, parent: current, text: '' }
  })
  parser.on('text', addText)
  parser.on('cdata', addText)
  parser.on('closetag', () => {
    if (!current) return
    onEnd(current)
    current = current.parent
    if (current) current.text = ''
  })
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
