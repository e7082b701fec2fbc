import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Running } from './app.ts'
import { createClient } from './redis.ts'

/** The whole content of an app's store as text: every row of the SQLite file, or every key and value in Redis. */
export async function storeTexts({ config }: Running): Promise<string[]> {
  const [url] = config.redisUrls
  return url === undefined ? rowsIn(join(config.dataDir, 'store.sqlite')) : keysIn(url)
}

function rowsIn(file: string): string[] {
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all()
    return tables.flatMap(({ name }) =>
      db
        .prepare(`SELECT * FROM "${name}"`)
        .all()
        .map((row) => decoded(JSON.stringify(row))),
    )
  } finally {
    db.close()
  }
}

async function keysIn(url: string): Promise<string[]> {
  const client = await createClient({ url }).connect()
  try {
    const texts = (await client.keys('*')).map(async (key) => {
      const type = await client.type(key)
      const value = type === 'zset' ? await client.zRange(key, 0, -1) : await client.get(key)
      return decoded(JSON.stringify([key, value]))
    })
    return await Promise.all(texts)
  } finally {
    client.destroy()
  }
}

/** Adds the decoded form of percent-encoded text, so that a search finds either form. */
const decoded = (text: string) =>
  `${text} ${text.replaceAll(/(%[\da-f]{2})+/gi, (encoded) => decodeURIComponent(encoded))}`

/** Those of these texts that the store contains, in upper or lower case. */
export async function foundInStore(app: Running, wanted: readonly string[]): Promise<string[]> {
  const texts = await storeTexts(app)
  return texts.filter((text) => wanted.some((one) => text.toLowerCase().includes(one.toLowerCase())))
}
