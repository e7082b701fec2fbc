import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { files, ROOT, read } from '../support/documents.ts'
import { tempDir } from '../support/env.ts'

/**
 * The examples of docs/guides.md, by the files to which the page copies them. The webhook example needs a receiver, so
 * test/real/deploy-recipes.long.test.ts runs it.
 */
const RECIPES = new Map(
  files('docs/examples/!(connection-webhooks)/*').map((example) => {
    const path = example.replace('docs/examples/', '')
    const [own] = /(?<=^own-sign-in\/).*/.exec(path) ?? []
    const folder = path.endsWith('.eta') ? 'views/app' : 'src/web/sign-in'
    return [own ? join(folder, own) : join('src/features', path), read(example)]
  }),
)

/** The change of docs/guides.md to a line of this file. */
const TEAMS = 'src/web/sign-in/oidc-sign-in.ts'
function ofTeams(code: string): string {
  const [, diff = ''] = /```diff\n([\s\S]*?)```/.exec(read('docs/guides.md')) ?? []
  const lines = (sign: string) =>
    [...diff.matchAll(/^([+-])(.*\n)/gm)].map(([, of, line]) => (of === sign ? line : '')).join('')
  const changed = code.replace(lines('-'), () => lines('+'))
  if (changed === code) throw new Error(`docs/guides.md changes a line that ${TEAMS} does not have`)
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
