import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { loadFeatures } from '../../src/features/load.ts'
import { tempDir } from '../support/env.ts'
import { openCopy } from './removal-support.ts'

const features = await loadFeatures()

let starter: ReturnType<typeof openCopy>
let clone: ReturnType<typeof openCopy>
/** The commit of the starter that was cloned. */
let first: string
const gitIn =
  (dir: string) =>
  (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.example', ...args], {
      cwd: dir,
      encoding: 'utf8',
    }).trim()
const commit = (dir: string, message: string) => {
  gitIn(dir)('add', '-A')
  gitIn(dir)('commit', '-qm', message)
}
const edit = (dir: string, file: string, from: string, to: string) => {
  const text = readFileSync(join(dir, file), 'utf8')
  expect(text, file).toContain(from)
  writeFileSync(join(dir, file), text.replaceAll(from, to))
}

const removed = ['scenarios', 'step-by-step']
const kept = features.map(({ name }) => name).filter((name) => !removed.includes(name))
const update = (...args: string[]) => clone.command('update', ...args)
const ATTEMPTS = 'const MAX_ATTEMPTS = 3'
const TLS_PROXY = '- A TLS proxy in front of the app.'
const GONE = 'src/web/gone.ts'
const NEW = 'test/web/times.test.ts'
const DELETED = 'compose.yaml'

/** Makes the starter in a folder an older version of itself, which works as well. */
function makeOlder(dir: string): void {
  edit(dir, 'src/connect/platform/api.ts', ATTEMPTS, 'const MAX_ATTEMPTS = 2')
  edit(dir, 'src/web/texts.ts', "appName: 'Connect Starter'", "appName: 'The old one'")
  edit(dir, 'docs/deploy.md', TLS_PROXY, '- A proxy.')
  edit(dir, 'docs/testing.md', '# Test your own features', '# Tests')
  writeFileSync(join(dir, 'CHANGELOG.md'), '# Changelog\n')
  writeFileSync(join(dir, GONE), '/** Gone. */\nexport const GONE = 1\n')
  rmSync(join(dir, NEW))
  for (const name of removed) {
    appendFileSync(join(dir, `src/features/${name}/index.ts`), '// As it was.\n')
    rmSync(join(dir, `test/features/${name}`), { recursive: true })
  }
}

/** Each test begins with an older version of the starter, and updates to the one that is here. */
beforeAll(() => {
  starter = openCopy()
  gitIn(starter.dir)('init', '-q')
  writeFileSync(join(starter.dir, '.git/info/exclude'), 'node_modules\n')
  appendFileSync(join(starter.dir, 'CHANGELOG.md'), '- Breaking: attempts are three. Change nothing.\n')
  commit(starter.dir, 'this version')
  makeOlder(starter.dir)
  commit(starter.dir, 'the version before')
  clone = openCopy(starter.dir)
  first = gitIn(clone.dir)('rev-parse', 'HEAD')
  gitIn(starter.dir)('revert', '--no-edit', 'HEAD')
})
afterAll(() => {
  starter.remove()
  clone.remove()
})

/** A product: renamed, without two features, with one of its own, with files that it changed and one that it deleted. */
async function makeProduct(): Promise<void> {
  await clone.command('init', '--name', 'Acme Link', '--features', kept.join(), '--yes')
  commit(clone.dir, 'init')
  await clone.command('add-feature', 'invoices', '--write')
  edit(clone.dir, 'views/app/home.eta', '<h1>', '<h1 id="own">')
  edit(clone.dir, 'src/web/texts.ts', "onPlatform: 'On the platform:'", "onPlatform: 'There:'")
  edit(clone.dir, 'docs/testing.md', 'This tests a feature', 'Our test of a feature')
  rmSync(join(clone.dir, DELETED))
  commit(clone.dir, 'own')
}

test('what cannot be updated is refused in one sentence, and nothing changes', async () => {
  await expect(update(starter.dir)).rejects.toThrow(/run npm run init first/)
  await clone.command('init', '--name', 'Acme', '--yes')
  await expect(update(starter.dir)).rejects.toThrow(/not committed/)
  commit(clone.dir, 'init')
  await expect(update()).rejects.toThrow(/Add the address of the starter/)
  await expect(update('/nowhere')).rejects.toThrow(/\/nowhere cannot be fetched/)
  await expect(update(starter.dir, '9.9.9')).rejects.toThrow(/has no version 9\.9\.9/)
  const other = tempDir()
  gitIn(other.dir)('init', '-q')
  symlinkSync('/', join(other.dir, 'link'))
  commit(other.dir, 'another project')
  await expect(update(other.dir)).rejects.toThrow(/is not a Connect Starter/)
  other.remove()
  expect(gitIn(clone.dir)('status', '--porcelain')).toBe('')
})

describe('a product', () => {
  let product: string
  beforeAll(async () => {
    gitIn(clone.dir)('reset', '-q', '--hard', first)
    await makeProduct()
    product = gitIn(clone.dir)('rev-parse', 'HEAD')
  })
  beforeEach(() => {
    gitIn(clone.dir)('reset', '-q', '--hard', product)
    gitIn(clone.dir)('clean', '-fdq')
  })

  const exists = (file: string) => existsSync(join(clone.dir, file))
  const read = (file: string) => readFileSync(join(clone.dir, file), 'utf8')

  test('of an older version, with a feature of its own and without two, is updated: no conflict, what was removed stays away, what was changed stays changed, its tests pass', async () => {
    const dry = await update(starter.dir, '--dry-run')
    expect(dry).toMatch(/^- Breaking: attempts are three[\s\S]*\n- The core[\s\S]*and 0 would be in conflict/)
    expect(gitIn(clone.dir)('status', '--porcelain')).toBe('')

    expect(await update(starter.dir)).toContain('which are staged')
    expect(read('src/connect/platform/api.ts')).toContain(ATTEMPTS)
    expect(read('src/web/texts.ts')).toMatch(/appName: 'Acme Link'[\s\S]*onPlatform: 'There:'/)
    expect(read('docs/testing.md')).toMatch(/^# Test your own features\n[\s\S]*Our test of a feature/)
    expect(read('docs/deploy.md')).toContain(TLS_PROXY)
    expect(read('docs/http-api.md')).toContain('/connections/:bxcontext/invoices')
    expect(read('views/app/home.eta')).toContain('<h1 id="own">')
    expect({ [NEW]: exists(NEW), [GONE]: exists(GONE), [DELETED]: exists(DELETED) }).toEqual({
      [NEW]: true,
      [GONE]: false,
      [DELETED]: false,
    })
    const ofRemoved = removed.flatMap((name) => [`src/features/${name}`, `test/features/${name}`])
    expect(ofRemoved.filter(exists)).toEqual([])
    await clone.check()
    await clone.runTests('test/features/invoices')
    commit(clone.dir, 'updated')
    expect(await update()).toContain('has everything of that version already')
  })

  test('is in conflict only where both have changed the same lines, and the files are named', async () => {
    const files = ['docs/deploy.md', 'src/connect/platform/api.ts']
    edit(clone.dir, 'src/connect/platform/api.ts', 'const MAX_ATTEMPTS = 2', 'const MAX_ATTEMPTS = 5')
    edit(clone.dir, 'docs/deploy.md', '- A proxy.', '- Our proxy.')
    commit(clone.dir, 'mine')
    const list = files.map((file) => `  ${file}\n`).join('')
    expect(await update(starter.dir, '--dry-run')).toContain(`2 would be in conflict:\n${list}Nothing`)
    expect(await update(starter.dir)).toContain(`git add each when it is resolved:\n${list}Then`)
    const git = gitIn(clone.dir)
    expect(() => git('commit', '-q', '-m', 'unresolved')).toThrow()
    await expect(update(starter.dir)).rejects.toThrow(
      /An update is in progress on the branch starter-[\w-]+: commit it, or/,
    )
    expect(git('diff', '--name-only', '--diff-filter=U').split('\n')).toEqual(files)
    git('checkout', '--ours', ...files)
    expect(read('src/connect/platform/api.ts')).toContain('MAX_ATTEMPTS = 5')
    git('switch', '-q', '--discard-changes', '-')
    expect(git('status', '--porcelain')).toBe('')
  })

  // The last test, since it deletes the history.
  test('works without the history of the starter', async () => {
    rmSync(join(clone.dir, '.git'), { recursive: true })
    gitIn(clone.dir)('init', '-q')
    writeFileSync(join(clone.dir, '.git/info/exclude'), 'node_modules\n')
    commit(clone.dir, 'squashed')
    expect(await update(starter.dir, '--dry-run')).toContain('and 0 would be in conflict')
  })
})
