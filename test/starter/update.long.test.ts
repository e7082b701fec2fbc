import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { features } from '../../src/features/index.ts'
import { tempDir } from '../support/env.ts'
import { openCopy } from './removal-support.ts'

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

beforeAll(() => {
  starter = openCopy()
  clone = openCopy()
  for (const { dir } of [starter, clone]) {
    gitIn(dir)('init', '-q')
    writeFileSync(join(dir, '.git/info/exclude'), 'node_modules\n')
  }
  commit(starter.dir, 'first')
  // The clone has the starter's commit, as a clone by git does.
  gitIn(clone.dir)('fetch', '-q', starter.dir, 'HEAD')
  gitIn(clone.dir)('reset', '-q', '--hard', 'FETCH_HEAD')
  first = gitIn(clone.dir)('rev-parse', 'HEAD')
})
afterAll(() => {
  starter.remove()
  clone.remove()
})

const removed = features
  .map(({ name }) => name)
  .filter((name) => ['step-by-step', 'scenarios'].includes(name))
const kept = features.map(({ name }) => name).filter((name) => !removed.includes(name))
const update = (...args: string[]) => clone.command('update', ...args)

/** A product: renamed, without three features, with one of its own and a page that was changed. */
async function makeProduct(): Promise<void> {
  await clone.command('init', '--name', 'Acme Link', '--features', kept.join(), '--yes')
  commit(clone.dir, 'init')
  await clone.command('add-feature', 'invoices', '--write')
  edit(clone.dir, 'views/app/home.eta', '<h1>', '<h1 id="own">')
  commit(clone.dir, 'own')
}

/** A later version of the starter. */
function release(): void {
  const { dir } = starter
  edit(dir, 'src/connect/platform/api.ts', 'const MAX_ATTEMPTS = 3', 'const MAX_ATTEMPTS = 3 // Three.')
  edit(dir, 'src/web/texts.ts', 'Skip to content', 'Skip to the content of Connect Starter')
  edit(dir, 'CHANGELOG.md', '### Added\n', '### Added\n\n- Breaking: attempts are four. Change nothing.\n')
  for (const name of removed) {
    const index = `src/features/${name}/index.ts`
    writeFileSync(join(dir, index), `${readFileSync(join(dir, index), 'utf8')}// News of the feature.\n`)
    writeFileSync(join(dir, `src/features/${name}/news.ts`), '/** News. */\nexport const NEWS = 1\n')
  }
  commit(dir, 'second')
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
    release()
    product = gitIn(clone.dir)('rev-parse', 'HEAD')
  })
  beforeEach(() => {
    gitIn(clone.dir)('reset', '-q', '--hard', product)
    gitIn(clone.dir)('clean', '-fdq')
  })

  test('npm run update takes over what is new, and leaves removed features, the name and own changes alone', async () => {
    const dry = await update(starter.dir, '--dry-run')
    expect(dry).toMatch(/Breaking: attempts are four[\s\S]*and 0 would be in conflict/)
    expect(gitIn(clone.dir)('status', '--porcelain')).toBe('')

    expect(await update(starter.dir)).toContain('which are staged')
    const read = (file: string) => readFileSync(join(clone.dir, file), 'utf8')
    expect(read('src/connect/platform/api.ts')).toContain('const MAX_ATTEMPTS = 3 // Three.')
    expect(read('src/web/texts.ts')).toContain('Skip to the content of Acme Link')
    expect(read('views/app/home.eta')).toContain('<h1 id="own">')
    expect(read('docs/http-api.md')).toContain('/connections/:bxcontext/invoices')
    for (const name of removed) expect(existsSync(join(clone.dir, `src/features/${name}`)), name).toBe(false)
    await clone.check()
    await clone.runTests('test/features/invoices', 'test/web/openapi', 'test/web/home')
    commit(clone.dir, 'updated')
    expect(await update()).toContain('has everything of that version already')
  })

  test('a file that both have changed at one place is in conflict, and named', async () => {
    edit(clone.dir, 'src/connect/platform/api.ts', 'const MAX_ATTEMPTS = 3', 'const MAX_ATTEMPTS = 5')
    commit(clone.dir, 'mine')
    expect(await update(starter.dir, '--dry-run')).toMatch(
      /1 would be in conflict:\n {2}src\/connect\/platform\/api\.ts/,
    )
    expect(await update(starter.dir)).toContain(
      'git add each when it is resolved:\n  src/connect/platform/api.ts',
    )
    const git = gitIn(clone.dir)
    expect(() => git('commit', '-q', '-m', 'unresolved')).toThrow()
    await expect(update(starter.dir)).rejects.toThrow(
      /An update is in progress on the branch starter-[\w-]+: commit it, or/,
    )
    expect(git('diff', '--name-only', '--diff-filter=U')).toBe('src/connect/platform/api.ts')
    git('checkout', '--ours', 'src/connect/platform/api.ts')
    expect(readFileSync(join(clone.dir, 'src/connect/platform/api.ts'), 'utf8')).toContain('MAX_ATTEMPTS = 5')
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
