/** Records the public names for the next release. Fails if one is gone and the changelog does not say so. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT, read } from '../support/documents.ts'
import { publicNames, RECORD, unannounced } from './public-names.ts'

const names = publicNames()
const gone = unannounced(JSON.parse(read(RECORD)), names, read('CHANGELOG.md'))
if (gone.length > 0) {
  console.error(`Gone, and not among the breaking changes of CHANGELOG.md: ${gone.join(', ')}`)
  process.exit(1)
}
writeFileSync(join(ROOT, RECORD), `${JSON.stringify(names, null, 2)}\n`)
