/** Names the endpoint of a platform call by the paths of the contracts, so that no id becomes a label. */
export function createEndpointNames(templates: readonly string[], apiUrl: string) {
  const base = new URL(apiUrl).pathname.replace(/\/$/, '')
  // `/catalogues/imports` comes before `/catalogues/:id`.
  const known = [...new Set(templates)].sort((a, b) => idsIn(a) - idsIn(b))
  /** Such as `GET /leads/:id`; `GET (other)` if no contract has the path. */
  return (method: string, url: string): string => {
    const { pathname } = new URL(url)
    const path = pathname.startsWith(base) ? pathname.slice(base.length) : pathname
    return `${method} ${known.find((template) => matches(template, path)) ?? '(other)'}`
  }
}

const idsIn = (template: string) => template.split(':id').length

function matches(template: string, path: string): boolean {
  const [expected, given] = [template.split('/'), path.split('/')]
  return (
    expected.length === given.length && expected.every((part, at) => part === ':id' || part === given[at])
  )
}
