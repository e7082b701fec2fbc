import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openRedis } from '../../../src/connect/store/redis.ts'
import { groupName, keyName, parseName } from '../../../src/connect/store/redis-keys.ts'
import { openSqlite } from '../../../src/connect/store/sqlite.ts'
import { tempDir } from '../../support/env.ts'
import { REDIS, withRedis } from '../../support/programs.ts'
import { ready, startRedis } from '../../support/redis.ts'
import { describeStoreContract } from '../../support/store-contract.ts'

describeStoreContract('SQLite', async () => {
  const { dir, remove } = tempDir()
  const store = openSqlite({ file: join(dir, 'store.sqlite') })
  return { store, close: () => store.close().then(remove) }
})

// On a Redis Cluster and behind Sentinels it runs among the long tests.
describeStoreContract(
  `Redis${withRedis}`,
  async () => {
    const server = await startRedis()
    const store = await ready(openRedis({ urls: [server.url] }))
    return { store, close: () => store.close().then(server.close) }
  },
  { skip: !REDIS },
)

test('different keys have different names, and a name can be parsed back to its key', () => {
  const text = fc.string({ unit: 'grapheme' })
  fc.assert(
    fc.property(text, text, text, text, (owner, id, owner2, id2) => {
      const [one, two] = [
        { kind: 'thing', owner, id },
        { kind: 'thing', owner: owner2, id: id2 },
      ]
      expect(parseName(keyName(one))).toEqual(one)
      expect(parseName(groupName('thing', owner))).toEqual({ ...one, id: '' })
      expect(keyName(one) === keyName(two)).toBe(owner === owner2 && id === id2)
    }),
  )
})

test('a name that is no key of this app is none', () => {
  for (const name of [
    'session:abc',
    'connect:thing:ann',
    'connect:Thing:{ann}:id',
    'connect:thing:{ann}:id:more',
  ])
    expect(parseName(name)).toBeNull()
})
