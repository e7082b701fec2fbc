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

/** A copy of the project with the recipes as features. `recipes`: their files. */
export function projectWithRecipes() {
  const { dir, remove } = tempDir()
  for (const path of ['node_modules', 'views', 'package.json', 'biome.json', 'tsconfig.json'])
    symlinkSync(join(ROOT, path), join(dir, path))
  for (const path of ['src', 'test/support']) cpSync(join(ROOT, path), join(dir, path), { recursive: true })
  for (const [file, code] of RECIPES) {
    mkdirSync(join(dir, dirname(file)), { recursive: true })
    writeFileSync(join(dir, file), code)
  }
  return { dir, remove, recipes: [...RECIPES.keys()] }
}
