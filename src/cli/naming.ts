import type { Project } from './project.ts'

/** The starter's name in addresses, packages and programs. */
const SLUG = 'connect-starter'
const TEXTS = /\.(ts|cjs|md|json|ya?ml|conf)$|^Dockerfile$/

/** A name as part of addresses and of names of packages: `Acme Link` becomes `acme-link`. */
export const slugOf = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(/\p{M}|['’]/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')

/** Names the product: in the one constant that pages read, in its logo, and wherever the starter is named by its slug. */
export function nameProduct(project: Project, name: string): void {
  const literal = name.includes("'") ? JSON.stringify(name) : `'${name}'`
  const setName = (text: string) => text.replace(/(?<=\bappName: )(['"]).*\1/, () => literal)
  project.change('src/web/texts.ts', setName, 'has the name')
  const slug = slugOf(name)
  for (const file of project.filesBelow('.')) {
    if (!TEXTS.test(file) || file === 'package-lock.json' || file.startsWith('src/cli/')) continue
    project.change(file, (text) => text.replaceAll(SLUG, slug), 'has the name')
  }
  const [letter = ''] = /[\p{L}\p{N}]/u.exec(name) ?? []
  project.change('views/public/app.svg', () => logo(letter.toUpperCase()), 'has the letter of the name')
}

const logo = (letter: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#3b4fd1"/><text x="16" y="22.5" font-family="system-ui, sans-serif" font-size="18" font-weight="600" fill="#fff" text-anchor="middle">${letter}</text></svg>\n`
