import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { all, files, ROOT, read } from '../support/documents.ts'

const lock = read('package-lock.json')
const { scripts, dependencies, devDependencies, allowScripts } = JSON.parse(read('package.json')) as Record<
  'scripts' | 'dependencies' | 'devDependencies' | 'allowScripts',
  Record<string, string>
>

test('each npm script that starts a file of ours does so through the file that any Node can read', () => {
  const ours = Object.values(scripts).filter(
    (script) => /\b(src|test)\/\S+\.ts\b/.test(script) && !/vitest/.test(script),
  )
  expect(ours.length).toBeGreaterThan(15)
  for (const script of ours) {
    const [, program = ''] = /^node (?:--\S+ )*src\/run\.cjs (\S+\.ts)\b/.exec(script) ?? []
    expect(program !== '' && existsSync(join(ROOT, program)), script).toBe(true)
  }
})

// With npm, code can import the dependencies of a dependency; with pnpm, it can't. knip checks the imports.
test('each package whose types are extended is in package.json', () => {
  const extended = new Set(
    files('{src,test}/**/*.ts').flatMap((file) => all(read(file), /^declare module '(.*)'/gm)),
  )
  expect(extended.size).toBeGreaterThan(0)
  const declared = Object.keys({ ...dependencies, ...devDependencies })
  for (const name of extended)
    expect(declared.includes(name) || declared.includes(`@types/${name}`), name).toBe(true)
})

test('pnpm runs the scripts of the same packages as npm', () => {
  expect(parse(read('pnpm-workspace.yaml')).allowBuilds).toEqual(allowScripts)
})

test('a production install has one copy of each package, but for the small ones of express-session', () => {
  const { packages } = JSON.parse(lock) as { packages: Record<string, { dev?: true }> }
  const places = Object.keys(packages).filter((place) => place && !packages[place]?.dev)
  const byName = Map.groupBy(places, (place) => place.split('node_modules/').at(-1))
  const copied = [...byName].filter(([, copies]) => copies.length > 1).map(([name]) => name)
  const known = ['cookie-signature', 'debug', 'ms']
  expect(copied.filter((name) => !known.includes(name ?? ''))).toEqual([])
})
