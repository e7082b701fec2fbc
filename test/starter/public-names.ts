/**
 * The names that are public (docs/upgrading.md): exports of the core's entries, what generated features import, settings,
 * error codes and routes.
 */
import { existsSync, globSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parse } from '@babel/parser'
import { loadFeatures } from '../../src/features/load.ts'
import { codeIn, files, ROOT, read, rows } from '../support/documents.ts'

/** The core's pages, and those of the features. */
const DOCS = files('docs/*.md')

const features = await loadFeatures()

export const RECORD = 'test/starter/public-names.json'

export interface PublicNames {
  /** The features that have these names. */
  features: string[]
  exports: string[]
  /** `FILE: NAME`, of what a generated feature imports from elsewhere than the core. */
  imports: string[]
  settings: string[]
  codes: string[]
  routes: string[]
}

/** The public names of today's code. Tests compare the tables of the docs with the code. */
export function publicNames(): PublicNames {
  const firstCells = (heading: string) =>
    [...new Set(DOCS.flatMap((path) => rows(read(path), heading).flatMap(([cell]) => codeIn(cell))))].sort()
  return {
    features: features.map(({ name }) => name).sort(),
    exports: ['index', 'express', 'stores', 'errors'].flatMap((entry) =>
      exportsOf(`src/connect/${entry}.ts`).map((name) => `${entry}: ${name}`),
    ),
    imports: importsOfFeatures(),
    settings: firstCells('Variable'),
    codes: firstCells('Code'),
    routes: firstCells('Route'),
  }
}

const statementsOf = (path: string) =>
  parse(read(path), { sourceType: 'module', plugins: ['typescript'] }).program.body

/** What the templates of features import from elsewhere, and what those of earlier versions did, as far as it is there. */
function importsOfFeatures(): string[] {
  const template = 'src/cli/template'
  const found = globSync(`${template}/**/*.ts`, { cwd: ROOT }).flatMap((path) =>
    statementsOf(path).flatMap((statement) => {
      if (statement.type !== 'ImportDeclaration' || !statement.source.value.startsWith('.')) return []
      const file = join(dirname(path), statement.source.value)
      if (file.startsWith(template) || file.startsWith('src/connect/')) return []
      return statement.specifiers.map(({ local }) => `${file}: ${local.name}`)
    }),
  )
  const { imports }: PublicNames = JSON.parse(read(RECORD))
  return [...new Set([...found, ...imports])].filter(isExported).sort()
}

function isExported(entry: string): boolean {
  const [file = '', name = ''] = entry.split(': ')
  return existsSync(join(ROOT, file)) && exportsOf(file).includes(name)
}

function exportsOf(path: string): string[] {
  const names = statementsOf(path).flatMap((statement) => {
    if (statement.type !== 'ExportNamedDeclaration') return []
    const { declaration, specifiers } = statement
    if (declaration?.type === 'VariableDeclaration')
      return declaration.declarations.map(({ id }) => ('name' in id ? id.name : ''))
    if (declaration && 'id' in declaration && declaration.id && 'name' in declaration.id)
      return [declaration.id.name]
    return specifiers.map(({ exported }) => ('name' in exported ? exported.name : ''))
  })
  return names.filter((name): name is string => typeof name === 'string' && name !== '').sort()
}

/** The recorded names that are gone, and that no breaking change of the changelog names. */
export function unannounced(recorded: PublicNames, now: PublicNames, changelog: string): string[] {
  const breaking = changelog
    .split(/\n(?=- |#)/)
    .filter((entry) => /^- Breaking:/.test(entry))
    .flatMap((entry) => codeIn(entry))
  return (['exports', 'imports', 'settings', 'codes', 'routes'] as const)
    .flatMap((kind) => recorded[kind].filter((name) => !now[kind].includes(name)))
    .filter((name) => !breaking.includes(name.replace(/^\S+: /, '')))
}
