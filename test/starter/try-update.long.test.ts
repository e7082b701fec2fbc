import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { ROOT } from '../support/documents.ts'
import { run } from '../support/process.ts'

/** An archive or a shallow clone has no history to begin with. */
function earlierCommit(): string {
  try {
    const args = ['rev-parse', '--verify', '--quiet', 'HEAD~100']
    return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim()
  } catch {
    return ''
  }
}
const commit = earlierCommit()

test.skipIf(commit === '')(
  'a product of 100 commits ago, with a feature of its own and without two, is updated: at most 3 conflicts, nothing removed is back, its tests pass',
  async () => {
    const script = run('test/starter/try-update.ts', process.env as Record<string, string>, {
      args: [commit, 'test/features/invoices', 'test/features/leads', 'test/web'],
    })
    expect(await script.exited, script.output().slice(-10_000)).toBe(0)
  },
)
