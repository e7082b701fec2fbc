import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ROOT, read } from '../support/documents.ts'
import { tempDir } from '../support/env.ts'

/** The code of these documents as it is written, by its files, which the first lines name. Most are files of a feature. */
const RECIPES = new Map(
  ['docs/recipes.md', 'docs/other-languages.md']
    .flatMap((doc) => [
      ...read(doc).matchAll(/```(?:ts|html)\n((?:\/\/|<%\/\*) (\S+)(?: \*\/%>)?\n[\s\S]*?)```/g),
    ])
    .map(([, code = '', file = '']) => [join('src/features', file), code]),
)

/** The change of docs/teams.md to a line of this file. */
const TEAMS = 'src/web/sign-in/oidc-sign-in.ts'
function ofTeams(code: string): string {
  const [, diff = ''] = /```diff\n([\s\S]*?)```/.exec(read('docs/teams.md')) ?? []
  const lines = (sign: string) =>
    [...diff.matchAll(/^([+-])(.*\n)/gm)].map(([, of, line]) => (of === sign ? line : '')).join('')
  const changed = code.replace(lines('-'), () => lines('+'))
  if (changed === code) throw new Error(`docs/teams.md changes a line that ${TEAMS} does not have`)
  return changed
}

/** A copy of the project with the recipes as features, and the change for teams. `recipes`: their files. */
export function projectWithRecipes() {
  const { dir, remove } = tempDir()
  for (const path of ['node_modules', 'package.json', 'biome.json', 'tsconfig.json'])
    symlinkSync(join(ROOT, path), join(dir, path))
  for (const path of ['src', 'views', 'test/support'])
    cpSync(join(ROOT, path), join(dir, path), { recursive: true })
  for (const [file, code] of RECIPES) {
    mkdirSync(join(dir, dirname(file)), { recursive: true })
    writeFileSync(join(dir, file), code)
  }
  writeFileSync(join(dir, TEAMS), ofTeams(read(TEAMS)))
  const recipes = [...RECIPES.keys(), TEAMS].filter((file) => file.endsWith('.ts'))
  return { dir, remove, recipes }
}
