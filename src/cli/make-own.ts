/** What `npm run init` makes of a clone, and `npm run update` of the starter's versions, so that the two can be compared. */
import { changeManifest, type Project, type Starter } from './project.ts'
import { removeFeatures } from './removal.ts'

const STARTER_NAME = 'Connect Starter'
/** What belongs to the starter and not to a product. */
const STARTER_FILES = ['test/starter']
/** What only they use. */
const STARTER_PACKAGES = ['@babel/parser']
/** The starter's name, except where it is part of a format or a key: what was written under it must stay readable. */
const SLUG = /connect-starter(?!-flow| live pricing access token)/g
/** Files that name the product. A lock file is written by npm. */
const NAMED = /\.(ts|cjs|eta|md|json|ya?ml|html|css)$|^\.env\.example$|^Dockerfile$/

/** Makes a clone of the starter a product: without the features that it does not need, and under its own name. */
export function makeOwn(project: Project, starter: Starter): void {
  for (const path of STARTER_FILES) project.remove(path)
  if (starter.removed.length > 0) removeFeatures(project, starter.removed)
  const readme = productReadme(project.read('README.md'), starter)
  rename(project, starter.name)
  project.change('README.md', () => readme, 'is that of the product')
  project.change('CHANGELOG.md', () => CHANGELOG, 'begins again')
  project.change('docs/upgrading.md', withoutPublishing, 'has nothing about versions of the starter')
  changeManifest(
    project,
    (manifest) => ({
      ...manifest,
      name: slugOf(starter.name),
      version: '0.1.0',
      description: `${starter.name}: connects accounts on the platform.`,
      devDependencies: Object.fromEntries(
        Object.entries(manifest.devDependencies).filter(([name]) => !STARTER_PACKAGES.includes(name)),
      ),
      starter,
    }),
    'the name, and what it was made from',
  )
}

const withoutPublishing = (text: string) => text.replace(/\n## Publish a version\n[\s\S]*$/, '')

const CHANGELOG = '# Changelog\n\n## Unreleased\n'

/** A name as part of addresses and of names of packages: `Acme Link` becomes `acme-link`. */
export const slugOf = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')

/** Replaces the starter's name in the code, the pages, the tests and the docs. */
function rename(project: Project, name: string): void {
  const slug = slugOf(name)
  const letter = [...name][0]?.toUpperCase() ?? ''
  for (const file of project.filesBelow('.')) {
    if (!NAMED.test(file) || file === 'package-lock.json' || file.startsWith('src/cli/')) continue
    project.change(file, (text) => text.replaceAll(STARTER_NAME, name).replaceAll(SLUG, slug), 'has the name')
  }
  project.change('views/public/app.svg', () => logo(letter), 'has the letter of the name')
}

const logo = (letter: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#3b4fd1"/><text x="16" y="22.5" font-family="system-ui, sans-serif" font-size="18" font-weight="600" fill="#fff" text-anchor="middle">${letter}</text></svg>\n`

/** A README of the product, with the sections of the starter's that its docs link to. */
function productReadme(text: string, { name }: Starter): string {
  const sections = text
    .replace(/ There is no licence yet:.*/, '')
    .split(/^(?=## )/m)
    .slice(1)
  const kept = ['What happens when', 'Use your own', 'Replace the sign-in', 'Deploy', 'Where things']
  return `# ${name}

${name} connects the accounts of its users on the platform. It began as the Connect Starter; \`npm run update\` merges
newer versions of it.

## Quick start

\`\`\`sh
npm install
npm run demo
\`\`\`

Open the address that it prints, sign in with any name, and press **Connect an account**. \`npm run dev\` runs the app with the
settings in \`.env\`, and \`npm run sandbox\` the platform beside it; \`npm run add-feature -- NAME\` adds a feature, and \`npm test\` runs the tests.

${sections.filter((section) => kept.some((title) => section.startsWith(`## ${title}`))).join('')}`
}
