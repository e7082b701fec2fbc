import type { Project } from './project.ts'

/** Returns a name in the form of addresses and package names: `Acme Link` becomes `acme-link`. */
export const slugOf = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(/\p{M}|['’]/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')

const TEXTS = /\.(ts|cjs|md|json|ya?ml|conf)$/

/** Names the product: in the constant for pages, in the logo, and instead of `connect-starter` everywhere else. */
export function nameProduct(project: Project, name: string): void {
  for (const file of project.filesBelow('.')) {
    if (!TEXTS.test(file) || file === 'package-lock.json' || file.startsWith('src/cli/')) continue
    const text = project.read(file)
    const named = text.replaceAll('connect-starter', slugOf(name))
    if (named !== text) project.write(file, named)
  }
  const literal = name.includes("'") ? JSON.stringify(name) : `'${name}'`
  const texts = project.read('src/web/texts.ts').replace(/(?<=\bAPP_NAME = )(['"]).*\1/, () => literal)
  project.write('src/web/texts.ts', texts)
  const [letter = ''] = /[\p{L}\p{N}]/u.exec(name) ?? []
  project.write('views/public/app.svg', logo(letter.toUpperCase()))
}

const logo = (letter: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#3b4fd1"/><text x="16" y="22.5" font-family="system-ui, sans-serif" font-size="18" font-weight="600" fill="#fff" text-anchor="middle">${letter}</text></svg>\n`
