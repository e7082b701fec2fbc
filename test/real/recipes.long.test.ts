import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { fileOf } from '../../src/cli/programs.ts'
import { projectWithRecipes } from '../starter/recipes.ts'
import { ROOT } from '../support/documents.ts'

const exec = promisify(execFile)

test('the recipes pass the type check and the linter of the project', async () => {
  const { dir, remove, recipes } = projectWithRecipes()
  onTestFinished(remove)
  expect(recipes.length).toBeGreaterThan(0)
  const compiler = { extends: join(ROOT, 'tsconfig.json'), compilerOptions: { tsBuildInfoFile: 'info' } }
  writeFileSync(
    join(dir, 'tsconfig.recipes.json'),
    JSON.stringify({ ...compiler, include: ['src/app.ts', ...recipes] }),
  )
  // In one string, so that a failure shows all that they say.
  const outputOf = (name: string, args: string[]) =>
    exec(process.execPath, [fileOf(ROOT, name), ...args], { cwd: dir }).then(
      () => '',
      ({ stdout, stderr }) => `${stdout}${stderr}`,
    )
  expect(await outputOf('tsc', ['-p', 'tsconfig.recipes.json'])).toBe('')
  expect(await outputOf('biome', ['check', '--vcs-enabled=false', ...recipes])).toBe('')
})
