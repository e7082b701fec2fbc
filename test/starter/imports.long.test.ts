import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { copyProject } from '../support/project.ts'

/** Imports that the lint rules reject, by the importing file. */
const REFUSED = {
  'src/connect/extra.ts': ['../features/load.ts', '../app.ts', 'express-session'],
  'src/connect/vault/extra.ts': ['../../settings/config.ts', '../authorization/flows.ts', 'express'],
  'src/connect/platform/extra.ts': ['../authorization/flows.ts', '../vault/vault.ts'],
  'src/connect/store/extra.ts': ['../../web/feature-api.ts', '../vault/vault.ts', '../platform/api.ts'],
  'src/web/extra.ts': [
    '../features/load.ts',
    '../app.ts',
    '../connect/vault/vault.ts',
    '../connect/context.ts',
  ],
  'src/web/requests/extra.ts': ['../sign-in/user.ts', '../pages/format.ts'],
  'src/web/sign-in/extra.ts': ['../pages/pages.ts'],
  'src/features/extra.ts': ['../web/requests/respond.ts', '../runtime/log.ts'],
  'src/features/own/extra.ts': ['../../web/requests/respond.ts', '../../settings/read.ts', '../../app.ts'],
  'src/features/own/deep/extra.ts': [
    '../../../web/requests/respond.ts',
    '../../../runtime/log.ts',
    '../../../app.ts',
  ],
  'src/features/own/cli-extra.ts': ['../../web/requests/respond.ts', '../../connect/store/store.ts'],
  'src/sandbox/features/own/extra.ts': ['../../../connect/index.ts', '../../../features/own/index.ts'],
  'src/settings/extra.ts': ['../web/feature-api.ts', '../app.ts'],
  'src/features/group/own/extra.ts': [
    '../../../web/requests/respond.ts',
    '../../../runtime/log.ts',
    '../../../app.ts',
  ],
  'src/cli/extra.ts': ['../connect/store/store.ts'],
  'test/web/extra.ts': ['../../src/connect/store/store.ts'],
}

test('an import against the order of the folders is refused, at any depth', async () => {
  const copy = copyProject()
  onTestFinished(copy.remove)
  for (const [file, imports] of Object.entries(REFUSED)) {
    mkdirSync(dirname(join(copy.dir, file)), { recursive: true })
    writeFileSync(join(copy.dir, file), imports.map((from) => `import '${from}'\n`).join(''))
  }
  const options = ['--reporter=github', '--max-diagnostics=none']
  const lint = copy.bin('biome', 'lint', ...options, ...Object.keys(REFUSED))
  const output = await lint.catch((error: Error) => error.message)
  const refusals = (file: string) =>
    output
      .split('\n')
      .filter((line) => line.startsWith('::error title=plugin') && line.includes(`/${file},line`))
  const counts = Object.keys(REFUSED).map((file) => [file, refusals(file).length])
  expect(counts).toEqual(Object.entries(REFUSED).map(([file, imports]) => [file, imports.length]))
})
