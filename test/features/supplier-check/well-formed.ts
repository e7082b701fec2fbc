/** An element of an XML document. */
export interface XmlElement {
  name: string
  attributes: Record<string, string>
  children: XmlElement[]
  /** The text of the element and of those in it. */
  text: string
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

/** Reads a well-formed XML document without comments and CDATA. Throws an error for any other. */
export function parseXml(document: string): XmlElement {
  const body = document.replace(/^<\?xml [^<>]*\?>\n|^<!DOCTYPE html>\n/, '')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are not allowed in XML
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/.test(body) || !body.isWellFormed())
    throw new Error('a character is not allowed')
  const root: XmlElement = { name: '', attributes: {}, children: [], text: '' }
  const open = [root]
  for (const [, text, tag] of body.matchAll(/([^<]+)|<([^<>]*)>|(?<rest>[<>])/g)) {
    const inner = open.at(-1) as XmlElement
    if (text !== undefined) for (const element of open) element.text += decode(text)
    else if (tag === undefined) throw new Error('a tag does not end')
    else if (tag.startsWith('/')) {
      if (inner.name !== tag.slice(1)) throw new Error(`<${inner.name}> ends with <${tag}>`)
      open.pop()
    } else {
      const element = parseTag(tag.replace(/\/$/, ''))
      inner.children.push(element)
      if (!tag.endsWith('/')) open.push(element)
    }
  }
  const [only] = root.children
  if (open.length > 1 || root.children.length !== 1 || !only) throw new Error('there is not one root element')
  return only
}

function parseTag(tag: string): XmlElement {
  const [, name, list = ''] = /^([a-z]\w*)((?: [\w-]+="[^"]*")*)$/.exec(tag) ?? []
  if (name === undefined) throw new Error(`<${tag}> is not a tag`)
  const attributes = [...list.matchAll(/ ([\w-]+)="([^"]*)"/g)].map(([, key = '', value = '']) => [
    key,
    decode(value),
  ])
  return { name, attributes: Object.fromEntries(attributes), children: [], text: '' }
}

function decode(text: string): string {
  if (text.includes('>')) throw new Error('a > is not escaped')
  return text.replace(/&([^;]*;?)/g, (_, entity: string) => {
    const character = entity.endsWith(';') ? ENTITIES[entity.slice(0, -1)] : undefined
    if (character === undefined) throw new Error(`&${entity} is not an entity`)
    return character
  })
}

/** All elements of this name. */
export const elementsOf = (element: XmlElement, name: string): XmlElement[] =>
  element.children.flatMap((child) => [...(child.name === name ? [child] : []), ...elementsOf(child, name)])
