/**
 * Tries an update before a release: makes a product of an earlier version, with a feature of its own and without two of the
 * starter's, updates it to this version, keeps its own side of each conflict, and runs its tests.
 *
 *   node test/starter/try-update.ts COMMIT [TEST ...]
 *
 * Without the names of tests, it runs all of them.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../support/documents.ts'
import { tempDir } from '../support/env.ts'

const REMOVED = ['scenarios', 'step-by-step']
const MOST_CONFLICTS = 3

const [commit = '', ...tests] = process.argv.slice(2)
const { dir, remove } = tempDir()
process.once('exit', remove)
const run = (program: string, ...args: string[]) =>
  execFileSync(program, args, { cwd: dir, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
const git = (...args: string[]) => run('git', '-c', 'user.name=a', '-c', 'user.email=a@b.example', ...args)
const npm = (...args: string[]) => run('npm', ...args)
const save = (message: string) => {
  git('add', '--all')
  git('commit', '--quiet', '--message', message)
}

git('clone', '--quiet', ROOT, '.')
git('reset', '--quiet', '--hard', commit)
npm('install')
const features = readdirSync(join(dir, 'src/features'), { withFileTypes: true })
const kept = features.filter((entry) => entry.isDirectory() && !REMOVED.includes(entry.name))
npm('run', 'init', '--', '--yes', '--name', 'Acme Link', '--features', kept.map(({ name }) => name).join())
save('init')
npm('run', 'add-feature', '--', 'invoices', '--write')
const page = join(dir, 'views/app/home.eta')
writeFileSync(page, readFileSync(page, 'utf8').replace('<h1>', '<h1 id="own">'))
save('a product')

const output = npm('run', 'update', '--', ROOT)
console.log(output)
const [, listed = ''] = /in conflict; look for.*:\n((?: {2}\S+\n)*)/.exec(output) ?? []
const conflicts = listed.split('\n').flatMap((line) => line.trim() || [])
console.log(`In conflict: ${conflicts.join(', ') || 'nothing'}.`)
for (const file of conflicts) git('checkout', 'HEAD', '--', file)
npm('install')
npm('run', 'docs')
const back = REMOVED.filter((name) => existsSync(join(dir, 'src/features', name)))
if (back.length > 0) throw new Error(`Removed, and back: ${back.join(', ')}`)
if (conflicts.length > MOST_CONFLICTS) throw new Error(`More than ${MOST_CONFLICTS} files are in conflict.`)
execFileSync('npm', ['test', '--', ...tests], { cwd: dir, stdio: 'inherit' })
