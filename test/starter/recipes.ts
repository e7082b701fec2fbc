import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ROOT, read } from '../support/documents.ts'
import { tempDir } from '../support/env.ts'

/** The features of these documents as they are written, by their files, which the first lines name. */
const RECIPES = new Map(
  ['docs/recipes.md', 'docs/other-languages.md']
    .flatMap((doc) => [...read(doc).matchAll(/```ts\n(\/\/ (\S+)\n[\s\S]*?)```/g)])
    .map(([, code = '', file = '']) => [`src/features/${file}`, code]),
)

/** The change of docs/teams.md to a line of this file. */
const TEAMS = 'src/web/oidc-sign-in.ts'
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
  for (const path of ['node_modules', 'views', 'package.json', 'biome.json', 'tsconfig.json'])
    symlinkSync(join(ROOT, path), join(dir, path))
  for (const path of ['src', 'test/support']) cpSync(join(ROOT, path), join(dir, path), { recursive: true })
  for (const [file, code] of RECIPES) {
    mkdirSync(join(dir, dirname(file)), { recursive: true })
    writeFileSync(join(dir, file), code)
  }
  writeFileSync(join(dir, TEAMS), ofTeams(read(TEAMS)))
  return { dir, remove, recipes: [...RECIPES.keys(), TEAMS] }
}
