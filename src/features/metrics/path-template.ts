/**
 * Returns a function that finds the template of an address below `baseUrl`, such as `/leads/:id`, so that no id becomes part of a
 * name; undefined if there is none. `templates`: the paths of the contracts.
 */
export function pathTemplates(
  baseUrl: string,
  templates: readonly string[],
): (url: URL) => string | undefined {
  const base = new URL(baseUrl)
  const basePath = base.pathname.replace(/\/$/, '')
  // `/catalogues/imports` comes before `/catalogues/:id`.
  const known = [...new Set(templates)].sort((a, b) => idsIn(a) - idsIn(b))
  return ({ origin, pathname }) => {
    if (origin !== base.origin || !pathname.startsWith(`${basePath}/`)) return undefined
    return known.find((template) => matches(template, pathname.slice(basePath.length)))
  }
}

const idsIn = (template: string) => template.split(':id').length

function matches(template: string, path: string): boolean {
  const [expected, given] = [template.split('/'), path.split('/')]
  return (
    expected.length === given.length && expected.every((part, at) => part === ':id' || part === given[at])
  )
}
