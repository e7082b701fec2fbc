import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from 'vitest'
import { read } from '../support/documents.ts'
import { type PublicNames, publicNames, RECORD, unannounced } from './public-names.ts'

const recorded: PublicNames = JSON.parse(read(RECORD))
const names = publicNames()

// In a clone with other features, the names are others.
describe.skipIf(!isDeepStrictEqual(recorded.features, names.features))('public names', () => {
  test('none disappears without a breaking change in the changelog', () => {
    expect(unannounced(recorded, names, read('CHANGELOG.md'))).toEqual([])
  })

  test('all are recorded: run npx node test/starter/record-public-names.ts', () => {
    expect(recorded).toEqual(names)
  })
})

describe('a name that is gone', () => {
  const before = {
    features: [],
    exports: ['index: createConnect'],
    imports: ['src/web/paging.ts: pager'],
    settings: ['PORT'],
    codes: [],
    routes: ['GET /a'],
  }
  const now = { features: [], exports: [], imports: [], settings: [], codes: [], routes: ['GET /a'] }

  test('is reported', () => {
    expect(unannounced(before, now, '')).toEqual(['index: createConnect', 'src/web/paging.ts: pager', 'PORT'])
  })

  test('is not, if a breaking change names it', () => {
    const entry = '- Breaking: `createConnect`, `pager` and\n  `PORT` are gone. Do without.\n'
    expect(unannounced(before, now, `# Changelog\n\n${entry}`)).toEqual([])
    expect(unannounced(before, now, `# Changelog\n\n- \`PORT\` is new.\n`)).toContain('PORT')
  })
})
