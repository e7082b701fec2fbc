/**
 * Returns a function that finds the template of a URL below `baseUrl`, such as `/leads/:id`, or undefined if no template matches.
 * This keeps ids out of labels. `templates`: the paths of the contracts.
 */
export function pathTemplates(
  baseUrl: string,
  templates: readonly string[],
): (url: URL) => string | undefined {
  const base = new URL(baseUrl)
  const basePath = base.pathname.replace(/\/$/, '')
  // Templates with fewer ids come first: `/catalogues/imports` before `/catalogues/:id`.
  const known = [...new Set(templates)]
    .sort((a, b) => a.split(':id').length - b.split(':id').length)
    .map((template) => ({ template, pattern: new RegExp(`^${template.replaceAll(':id', '[^/]+')}$`) }))
  return ({ origin, pathname }) => {
    if (origin !== base.origin || !pathname.startsWith(`${basePath}/`)) return undefined
    return known.find(({ pattern }) => pattern.test(pathname.slice(basePath.length)))?.template
  }
}
