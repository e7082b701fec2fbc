/**
 * Creates a function that finds the template of a path, such as `/leads/:id`: the longest one that the path ends with, because
 * addresses may have a path of their own. Undefined if there is none.
 */
export function pathTemplates(templates: readonly string[]): (path: string) => string | undefined {
  const patterns = templates
    .toSorted((one, other) => other.length - one.length)
    .map((template) => {
      const parts = template.split('/').map((part) => (part.startsWith(':') ? '[^/]+' : escaped(part)))
      return { template, pattern: new RegExp(`${parts.join('/')}$`) }
    })
  return (path) => {
    const [pathname = ''] = path.split('?')
    return patterns.find(({ pattern }) => pattern.test(pathname))?.template
  }
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
