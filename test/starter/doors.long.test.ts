/** The first ten minutes on machines that are not ours: other line endings, folders, users, and versions of Node. */
import { spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { fileOf } from '../../src/cli/programs.ts'
import { ROOT, read } from '../support/documents.ts'
import { tempDir, testEnv } from '../support/env.ts'
import { freePort } from '../support/ports.ts'
import { answering, programOf } from '../support/process.ts'
import { openClone } from './clones.ts'

// On the disk, where openClone has linked the packages.
const { dir, remove } = tempDir(tmpdir())
afterAll(remove)
/** The variables that vitest adds to the environment. */
const OF_VITEST = /^(VITEST.*|NODE_(ENV|OPTIONS|COMPILE_CACHE)|BASE_URL|FORCE_COLOR)$/
const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !OF_VITEST.test(name)))

/** Runs a program to its end. `ok`: whether it succeeded. */
function ended(cwd: string, command: readonly string[], env: Record<string, string> = {}) {
  const [program = '', ...args] = command
  const options = { cwd, encoding: 'utf8', env: { ...inherited, NO_COLOR: '1', ...env } } as const
  const { status, stdout, stderr } = spawnSync(program, args, options)
  return { ok: status === 0, output: stdout + stderr }
}

/** A version of Node, without the scripts of the package that this project uses. */
function installNode(version: string): string {
  const folder = join(dir, `node-${version}`)
  mkdirSync(folder)
  const system = process.platform === 'win32' ? 'win' : process.platform
  const named = `node@npm:node-${system}-${process.arch}@${version}`
  const { output } = ended(folder, ['npm', 'install', '--prefix', folder, '--ignore-scripts', named])
  const file = join(folder, 'node_modules/node/bin/node')
  expect(ended(folder, [file, '--version']).output, output).toContain(`v${version}.`)
  return file
}

const manifest = JSON.parse(read('package.json'))

describe('in a workspace, in a path with a space and an umlaut,', () => {
  const workspace = join(dir, 'Büro drei')
  const clone = join(workspace, 'app')
  // npm installs no packages: product.long.test.ts does that.
  const npmRun = (...args: string[]) => ended(clone, ['npm', 'run', ...args], { npm_config_dry_run: 'true' })
  const git = (...args: string[]) => ended(clone, ['git', ...args]).output

  beforeAll(() => {
    const starter = openClone()
    mkdirSync(workspace)
    ended(workspace, ['git', 'clone', '-q', '-c', 'core.autocrlf=true', starter.dir, 'app'])
    renameSync(join(starter.dir, 'node_modules'), join(workspace, 'node_modules'))
    starter.remove()
    writeFileSync(join(workspace, 'package.json'), '{ "private": true, "workspaces": ["app"] }')
    // Without it, npm would install the newest packages, which may not fit each other.
    const { packages, ...lock } = JSON.parse(readFileSync(join(clone, 'package-lock.json'), 'utf8'))
    const { '': app, ...others } = packages
    const own = {
      '': { workspaces: ['app'] },
      app,
      [`node_modules/${app.name}`]: { resolved: 'app', link: true },
    }
    const ofWorkspace = JSON.stringify({ ...lock, packages: { ...own, ...others } })
    writeFileSync(join(workspace, 'package-lock.json'), ofWorkspace)
  })

  test('a clone by a Git for Windows has our line endings', () => {
    expect(git('ls-files', '--eol')).not.toMatch(/ w\/(crlf|mixed)/)
  })

  test('with the lowest Node that is promised, the demo starts, and no command prints a warning', async () => {
    const node = installNode(manifest.engines.node.replace('>=', ''))
    const [port, sandboxPort, data] = [await freePort(), await freePort(), tempDir()]
    const nowhere = 'http://127.0.0.1:9'
    const addresses = { PLATFORM_APP_URL: nowhere, PLATFORM_AUTH_URL: nowhere, PLATFORM_API_URL: nowhere }
    const env = testEnv({ ...addresses, DATA_DIR: data.dir })
    const list = ended(clone, [node, 'src/run.cjs', 'src/cli/connections.ts', 'list'], env)
    expect(list).toEqual({ ok: true, output: '0 connections.\n' })
    const settings = {
      PORT: String(port),
      SANDBOX_PORT: String(sandboxPort),
      DATA_DIR: join(data.dir, 'demo'),
    }
    const child = spawn(node, ['src/run.cjs', 'src/demo.ts'], {
      cwd: clone,
      env: { ...inherited, ...settings },
    })
    const demo = programOf(child)
    onTestFinished(async () => void (await demo.kill()))
    await answering(`http://localhost:${port}/health/live`, demo)
    expect(demo.output()).not.toContain('Warning')
    data.remove()
  })

  // Git's own tests set this variable: only root can give a file to another user.
  test('the commands show what git says of a repository of another user, and speak of none only if there is none', () => {
    const init = [process.execPath, 'src/run.cjs', 'src/cli/init.ts', '--yes', '--name', 'Ours']
    const { ok, output } = ended(clone, init, { GIT_TEST_ASSUME_DIFFERENT_OWNER: '1' })
    expect(ok).toBe(false)
    expect(output).toMatch(/dubious ownership[\s\S]*safe\.directory[\s\S]*Nothing was changed\./)
    expect(output).not.toContain('git init')
    const without = ended(clone, init, { GIT_DIR: join(dir, 'nowhere') })
    expect(without.output).toMatch(/not in a Git repository: run git init .* Nothing was changed\./)
  })

  test('the commands do the same with files that were saved with CRLF', () => {
    for (const file of git('-c', 'core.quotePath=false', 'ls-files').trim().split('\n')) {
      const bytes = readFileSync(join(clone, file))
      if (!bytes.includes(0)) writeFileSync(join(clone, file), bytes.toString().replaceAll('\n', '\r\n'))
    }
    git('add', '--all')
    expect(git('ls-files', '--eol', 'README.md')).toContain('w/crlf')
    const init = npmRun('init', '--', '--name', 'Büro Link', '--features', 'leads')
    expect(init.output).toContain('This clone is now Büro Link.')
    const added = npmRun('add-feature', '--', 'orders')
    expect(added.output).toContain('Added orders:')
    // The core of a product has the version of the starter.
    const packed = npmRun('build-core-package')
    expect(packed.output).toContain(`Wrote connect-core-${manifest.version}.tgz`)
    for (const { output } of [init, added, packed]) expect(output).not.toContain('failed')
    expect(readFileSync(join(clone, '.env'), 'utf8')).toMatch(
      /^# The settings of the app on this machine;.*\n\n# ---/,
    )
    expect(readFileSync(join(clone, 'README.md'), 'utf8')).toMatch(/^# Büro Link\n/)
    const routes = readFileSync(join(clone, 'src/features/orders/routes.ts'), 'utf8')
    expect(routes).not.toMatch(/template|\r|post\(/)
    const ofMetrics = '## Metrics\n'
    expect(read('docs/configuration.md')).toContain(ofMetrics)
    const settings = readFileSync(join(clone, 'docs/configuration.md'), 'utf8')
    expect(settings).toContain('## The app\n')
    expect(settings).not.toContain(ofMetrics)
  })

  // product.long.test.ts checks the types, which don't depend on line endings.
  test('the linter passes', () => {
    git('add', '--all')
    git('-c', 'user.name=a', '-c', 'user.email=a@b.example', 'commit', '-qm', 'Ours')
    // Uses the line endings that Git writes on Windows.
    git('rm', '-rq', '--cached', '.')
    git('reset', '-q', '--hard')
    const { ok, output } = ended(clone, [process.execPath, fileOf(clone, 'biome'), 'ci'])
    expect(ok, output).toBe(true)
  })
})

test('after --ignore-scripts with Node 20, each door says which Node is needed and why it is missing, and what it advises works', () => {
  const node = installNode('20')
  const folder = join(dir, 'ignored')
  mkdirSync(join(folder, 'src'), { recursive: true })
  for (const file of ['src/run.cjs', '.npmrc']) cpSync(join(ROOT, file), join(folder, file))
  const devDependencies = { node: manifest.devDependencies.node }
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ ...manifest, dependencies: { zod: manifest.dependencies.zod }, devDependencies }),
  )
  // Removes this project's Node, which npm has put first into the PATH.
  const others = (process.env.PATH ?? '').split(delimiter).filter((place) => !place.includes('node_modules'))
  const env = { PATH: [dirname(node), ...others].join(delimiter), npm_config_ignore_scripts: 'true' }
  expect(ended(folder, ['npm', 'install'], env).ok).toBe(true)
  for (const script of ['demo', 'start', 'init', 'test']) {
    const { ok, output } = ended(folder, ['npm', 'run', script], env)
    expect(ok).toBe(false)
    expect(output).toMatch(
      /^Node 20\.\S+ is too old: this project requires 22\.19 or later\. .*--ignore-scripts/m,
    )
    expect(output).not.toMatch(/ERR_|vitest:/)
  }
  const [, advice = ''] = /"(npm rebuild .*?)"/.exec(ended(folder, ['npm', 'run', 'demo'], env).output) ?? []
  ended(folder, advice.split(' '), env)
  const { output } = ended(folder, ['npm', 'exec', '-c', 'node src/run.cjs'], env)
  expect(output).toMatch(/^Node 24\.\S+ is new enough\./)
})
