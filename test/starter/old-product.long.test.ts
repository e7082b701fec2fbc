import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { placesOf } from '../../src/cli/removal.ts'
import { git } from '../../src/cli/repository.ts'
import { featureFolders, groupsOf, nameOf } from '../../src/features/folders.ts'
import { loadFeatures } from '../../src/features/load.ts'
import { ROOT } from '../support/documents.ts'
import { freePort } from '../support/ports.ts'
import { answering, run } from '../support/process.ts'
import { openClone, openZip } from './clones.ts'

const OLD = git(ROOT, 'rev-parse', '--verify', '--quiet', 'HEAD~60')
if (!OLD) console.log('This clone has no commit of 60 commits ago: the test of an old product is skipped.')
const folders = (await loadFeatures()).map(({ folder }) => folder)
const REMOVED = ['live-pricing', 'metrics', 'supplier-check']

/** A clone with all files as they are here, and with the history before them. */
function openStarter() {
  const starter = openClone()
  onTestFinished(starter.remove)
  starter.git('fetch', '-q', ROOT, 'HEAD')
  starter.git('reset', '-q', '--soft', 'FETCH_HEAD')
  starter.git('commit', '-q', '--allow-empty', '-m', 'Now')
  return starter
}

// It need not be able to update itself: the updater of the new version does.
test.skipIf(!OLD)(
  'a product of 60 commits ago is updated: no package is missing, nothing removed is back, the check and the tests of pages pass, and the demo starts',
  async () => {
    const starter = openStarter()
    const product = openZip(starter.dir, OLD ?? '')
    onTestFinished(product.remove)
    const features = featureFolders(product.git('ls-files', 'src/features').split('\n')).map(nameOf)
    const kept = features.filter((name) => !REMOVED.includes(name))
    // As its own package.json starts it.
    await product.npm('run', 'init', '--', '--name', 'Acme Link', '--features', kept.join(), '--yes')
    product.edit('views/app/home.eta', '<h1>', '<h1 id="own">')
    product.commit('ours')
    const output = await starter.program('src/cli/update-product.ts', product.dir)
    expect(output).toMatch(/which are staged[\s\S]*knip exited with code 0/)
    expect(output).not.toMatch(/in conflict| failed: /)
    expect(product.read('views/app/home.eta')).toContain('<h1 id="own">')
    const places = REMOVED.flatMap((name) => placesOf(name, groupsOf(folders)))
    expect(places.filter((place) => existsSync(join(product.dir, place)))).toEqual([])
    await product.npm('ls')
    await product.runTests('test/web/pages.test.ts', 'test/features/leads/', 'test/config.test.ts')
    const [port, sandboxPort] = [String(await freePort()), String(await freePort())]
    const settings = { PORT: port, SANDBOX_PORT: sandboxPort, DATA_DIR: join(product.dir, '.data/demo') }
    const demo = run(join(product.dir, 'src/demo.ts'), settings, { cwd: product.dir })
    await answering(`http://localhost:${port}/health/live`, demo)
    await demo.kill()
  },
)
