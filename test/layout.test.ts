import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { importing, lint } from './support/lint.ts'

const FORBIDDEN: [path: string, target: string][] = [
  // The core depends on nothing else of ours, and has Express in one file only.
  ['src/connect/x.ts', '../web/pages.ts'],
  ['src/connect/vault/x.ts', '../../web/pages.ts'],
  ['src/connect/vault/x.ts', '../../features/some/some.ts'],
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
  ['src/web/x.ts', '../features/some/routes.ts'],
  ['src/web/x.ts', '../dependencies.ts'],
  ['src/web/x.ts', '../sandbox/accounts.ts'],
  ['src/features/some/x.ts', '../../dependencies.ts'],
  ['src/features/some/x.ts', '../../runtime/serve.ts'],
  // Everything else reaches the core by its four entries.
  ['src/web/x.ts', '../connect/vault/vault.ts'],
  ['src/features/some/x.ts', '../../connect/platform/oauth.ts'],
  ['src/features/some/cli-x.ts', '../../connect/events.ts'],
  ['src/features/some/x.ts', '../../connect/app-error.ts'],
  ['src/app.ts', './connect/authorization/routes.ts'],
  ['src/cli/x.ts', '../connect/store/sqlite.ts'],
  ['test/web/x.ts', '../../src/connect/vault/vault.ts'],
  // Only programs compose the sandbox, which shares nothing with what it tests.
  ['src/features/some/x.ts', '../../sandbox/sandbox.ts'],
  ['src/app.ts', './sandbox/sandbox.ts'],
  ['src/dependencies.ts', './sandbox/sandbox.ts'],
  ['src/sandbox/x.ts', '../connect/platform/contract.ts'],
  ['src/sandbox/x.ts', '../runtime/serve.ts'],
  ['src/sandbox/features/some/x.ts', '../../../features/some/contract.ts'],
]

const ALLOWED: [path: string, target: string][] = [
  ['src/connect/authorization/routes.ts', 'express'],
  ['src/connect/authorization/x.ts', '../vault/vault.ts'],
  ['src/connect/vault/x.ts', '../store/store.ts'],
  ['src/connect/vault/x.ts', '../platform/oauth.ts'],
  ['src/connect/platform/x.ts', '../store/store.ts'],
  ['src/connect/vault/x.ts', '../app-error.ts'],
  ['src/web/x.ts', '../connect/errors.ts'],
  ['src/app.ts', './connect/express.ts'],
  ['src/features/some/x.ts', '../../connect/stores.ts'],
  ['test/web/x.ts', '../../src/connect/index.ts'],
  ['test/connect/x.ts', '../../src/connect/vault/vault.ts'],
  ['src/features/some/x.ts', '../../web/respond.ts'],
  ['src/features/some/cli-x.ts', '../../runtime/serve.ts'],
  ['src/features/some/x.ts', '../other/other.ts'],
  ['src/sandbox/features/some/x.ts', '../../feature.ts'],
  ['src/demo.ts', './sandbox/sandbox.ts'],
  ['src/cli/x.ts', '../sandbox/sandbox.ts'],
]

const WITHOUT_ENVIRONMENT = [
  'connect',
  'connect/vault',
  'connect/platform',
  'connect/store',
  'web',
  'features/some',
  'sandbox',
]

test('nothing prints but by src/runtime/print.ts, which leaves out what controls a terminal', () => {
  const places = [
    'src/x.ts',
    'src/cli/x.ts',
    'src/runtime/x.ts',
    'src/features/some/x.ts',
    'src/features/some/cli-x.ts',
  ]
  const complaints = lint(places.map((path) => ({ path, code: "console.log('x')\n" })))
  expect(complaints.map((found) => found.map(({ rule }) => rule))).toEqual(places.map(() => ['noConsole']))
  const source = fileURLToPath(new URL('../src', import.meta.url))
  const writers = globSync('**/*.ts', { cwd: source }).filter((file) =>
    /process\.std(out|err)\.write/.test(readFileSync(join(source, file), 'utf8')),
  )
  expect(writers).toEqual(['runtime/print.ts'])
})

describe('the import rules', () => {
  const complaints = lint([
    ...FORBIDDEN.map(importing),
    ...ALLOWED.map((pair, index) => importing(pair, FORBIDDEN.length + index)),
    ...WITHOUT_ENVIRONMENT.map((folder) => ({
      path: `src/${folder}/environment.ts`,
      code: 'export const x = process.env.X\n',
    })),
  ])
  const rulesOf = (index: number) => complaints[index]?.map(({ rule }) => rule)

  test.each(FORBIDDEN.map((pair, index) => ({ path: pair[0], target: pair[1], index })))(
    '$path may not import $target',
    ({ index }) => {
      expect(rulesOf(index)).toEqual(['noRestrictedImports'])
    },
  )

  test.each(ALLOWED.map((pair, index) => ({ path: pair[0], target: pair[1], index })))(
    '$path may import $target',
    ({ index }) => {
      expect(rulesOf(FORBIDDEN.length + index)).toEqual([])
    },
  )

  test('say what to do', () => {
    const index = FORBIDDEN.findIndex(([path]) => path === 'src/connect/vault/x.ts')
    expect(complaints[index]?.[0]?.message).toContain('move what it needs into src/connect, or pass it in')
  })

  test.each(WITHOUT_ENVIRONMENT.map((folder, index) => ({ folder, index })))(
    'src/$folder does not read the environment',
    ({ index }) => {
      expect(rulesOf(FORBIDDEN.length + ALLOWED.length + index)).toEqual(['noProcessEnv'])
    },
  )
})
