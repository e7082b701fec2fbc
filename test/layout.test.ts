import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
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
    ['src/vault/x.ts', '../web/pages.ts'],
    ['src/vault/x.ts', '../store/redis.ts'],
    ['src/vault/x.ts', 'express'],
    ['src/platform/x.ts', '../store/store.ts'],
    ['src/store/x.ts', '../vault/vault.ts'],
    ['src/sandbox/x.ts', '../platform/contract.ts'],
    ['src/sandbox/x.ts', '../serve.ts'],
    ['src/connect/x.ts', '../web/errors.ts'],
    ['src/connect/x.ts', '../store/sqlite.ts'],
    ['src/web/x.ts', '../sandbox/accounts.ts'],
    ['src/web/x.ts', '../services.ts'],
    ['src/imports/x.ts', '../web/errors.ts'],
    ['src/imports/x.ts', '../vault/vault.ts'],
    ['src/imports/x.ts', 'express'],
    ['src/webhooks/x.ts', '../web/errors.ts'],
    ['src/webhooks/x.ts', '../imports/jobs.ts'],
    ['src/supplier/x.ts', '../services.ts'],
    ['src/supplier/x.ts', '../web/errors.ts'],
    ['src/supplier/embedded/x.ts', '../../store/store.ts'],
    ['src/supplier/embedded/x.ts', '../../imports/jobs.ts'],
    ['src/supplier/check/x.ts', '../router.ts'],
    ['src/web/x.ts', '../supplier/router.ts'],
    ['src/app.ts', './sandbox/sandbox.ts'],
    ['src/services.ts', './sandbox/sandbox.ts'],
  ])('%s may not import %s', (path, target) => {
    expect(lint(path, `import { x } from '${target}'\n\nexport const y = x\n`)).toContain(
      'noRestrictedImports',
    )
  })

  test.each([
    ['src/vault/x.ts', '../store/store.ts'],
    ['src/vault/x.ts', '../platform/oauth.ts'],
    ['src/web/x.ts', '../vault/vault.ts'],
    ['src/web/x.ts', '../imports/jobs.ts'],
    ['src/imports/x.ts', '../store/store.ts'],
    ['src/webhooks/x.ts', '../vault/vault.ts'],
    ['src/supplier/embedded/x.ts', '../../imports/rows.ts'],
    ['src/supplier/embedded/x.ts', '../price-book.ts'],
    ['src/supplier/check/x.ts', '../contract.ts'],
    ['src/web/x.ts', '../supplier/openapi.ts'],
    ['src/demo.ts', './sandbox/sandbox.ts'],
    ['src/cli/x.ts', '../sandbox/sandbox.ts'],
  ])('%s may import %s', (path, target) => {
    expect(lint(path, `import { x } from '${target}'\n\nexport const y = x\n`)).toBe('')
  })

  test.each([
    'vault',
    'platform',
    'store',
    'connect',
    'web',
    'imports',
    'webhooks',
    'supplier',
    'supplier/embedded',
    'supplier/check',
  ])('src/%s does not read the environment', (folder) => {
    expect(lint(`src/${folder}/x.ts`, 'export const x = process.env.X\n')).toContain('noProcessEnv')
  })
})

test('the top level holds what it should and nothing else', () => {
  const visible = readdirSync(ROOT).filter((name) => !name.startsWith('.') && name !== 'node_modules')
  expect(visible.sort()).toEqual(
    [
      'README.md',
      'biome.json',
      'package-lock.json',
      'package.json',
      'src',
      'test',
      'tsconfig.json',
      'views',
    ].sort(),
  )
})
