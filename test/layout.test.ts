import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { tempDir } from './support/app.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** What the linter says of a file at `path` that holds `code`. */
function lint(path: string, code: string): string {
  const { dir, remove } = tempDir()
  copyFileSync(join(ROOT, 'biome.json'), join(dir, 'biome.json'))
  mkdirSync(dirname(join(dir, path)), { recursive: true })
  writeFileSync(join(dir, path), code)
  try {
    execFileSync(join(ROOT, 'node_modules/.bin/biome'), ['lint', '--vcs-enabled=false', path], {
      cwd: dir,
      stdio: 'pipe',
    })
    return ''
  } catch (error) {
    return String((error as { stderr: Buffer }).stderr) + String((error as { stdout: Buffer }).stdout)
  } finally {
    remove()
  }
}

describe('the import rules', () => {
  test.each([
    // The core depends on nothing else of ours, and has Express in one file only.
    ['src/connect/x.ts', '../web/pages.ts'],
    ['src/connect/vault/x.ts', '../../web/pages.ts'],
    ['src/connect/vault/x.ts', '../../features/leads/leads.ts'],
    ['src/connect/platform/x.ts', '../../config.ts'],
    ['src/connect/authorization/routes.ts', '../../web/errors.ts'],
    ['src/connect/authorization/x.ts', 'express'],
    ['src/connect/vault/x.ts', 'express'],
    ['src/connect/store/x.ts', 'express-session'],
    // authorization → vault → platform, store.
    ['src/connect/vault/x.ts', '../authorization/routes.ts'],
    ['src/connect/platform/x.ts', '../vault/vault.ts'],
    ['src/connect/store/x.ts', '../vault/vault.ts'],
    ['src/connect/store/x.ts', '../platform/oauth.ts'],
    // features → web → connect.
    ['src/web/x.ts', '../features/leads/routes.ts'],
    ['src/web/x.ts', '../services.ts'],
    ['src/web/x.ts', '../sandbox/accounts.ts'],
    ['src/features/leads/x.ts', '../../services.ts'],
    ['src/features/leads/x.ts', '../../runtime/serve.ts'],
    ['src/features/live-pricing/csv-price-provider/x.ts', '../../../web/errors.ts'],
    ['src/features/live-pricing/check/x.ts', '../router.ts'],
    // Only programs compose the sandbox, which shares nothing with what it tests.
    ['src/features/leads/x.ts', '../../sandbox/sandbox.ts'],
    ['src/app.ts', './sandbox/sandbox.ts'],
    ['src/services.ts', './sandbox/sandbox.ts'],
    ['src/sandbox/x.ts', '../connect/platform/contract.ts'],
    ['src/sandbox/x.ts', '../runtime/serve.ts'],
  ])('%s may not import %s', (path, target) => {
    expect(lint(path, `import { x } from '${target}'\n\nexport const y = x\n`)).toContain(
      'noRestrictedImports',
    )
  })

  test.each([
    ['src/connect/authorization/routes.ts', 'express'],
    ['src/connect/authorization/x.ts', '../vault/vault.ts'],
    ['src/connect/vault/x.ts', '../store/store.ts'],
    ['src/connect/vault/x.ts', '../platform/oauth.ts'],
    ['src/connect/platform/x.ts', '../store/store.ts'],
    ['src/connect/vault/x.ts', '../app-error.ts'],
    ['src/web/x.ts', '../connect/vault/vault.ts'],
    ['src/features/leads/x.ts', '../../web/respond.ts'],
    ['src/features/leads/cli-x.ts', '../../runtime/serve.ts'],
    ['src/features/price-files/x.ts', '../catalogues/catalogues.ts'],
    ['src/features/live-pricing/check/x.ts', '../contract.ts'],
    ['src/demo.ts', './sandbox/sandbox.ts'],
    ['src/cli/x.ts', '../sandbox/sandbox.ts'],
  ])('%s may import %s', (path, target) => {
    expect(lint(path, `import { x } from '${target}'\n\nexport const y = x\n`)).toBe('')
  })

  test('say what to do', () => {
    const words = lint(
      'src/connect/vault/x.ts',
      "import { x } from '../../web/pages.ts'\n\nexport const y = x\n",
    )
    expect(words).toContain('move what it needs into src/connect, or pass it in')
  })

  test.each([
    'connect',
    'connect/vault',
    'connect/platform',
    'connect/store',
    'web',
    'features/leads',
    'sandbox',
  ])('src/%s does not read the environment', (folder) => {
    expect(lint(`src/${folder}/x.ts`, 'export const x = process.env.X\n')).toContain('noProcessEnv')
  })
})

test('the README names files and folders that are there', () => {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
  const named = new Set([...readme.matchAll(/\bsrc\/[\w./-]*\w/g)].map(([path]) => path))
  expect([...named].filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
})
