/** A folder for a file while it is read. */
import { createWriteStream } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { StoreUnavailableError } from '../../../connect/errors.ts'

const LEFT_OVER_MS = 86_400_000

/** Gives `work` a folder in `dir`, and deletes this afterwards. Also deletes folders that killed processes left over a day ago. */
export async function inFolder<T>(dir: string, work: (folder: string) => Promise<T>): Promise<T> {
  await mkdir(dir, { recursive: true, mode: 0o700 })
  for (const name of await readdir(dir)) {
    const path = join(dir, name)
    const found = await stat(path).catch(() => null)
    if (found && Date.now() - found.mtimeMs > LEFT_OVER_MS) await rm(path, { recursive: true, force: true })
  }
  const folder = await mkdtemp(join(dir, 'check-'))
  try {
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Writes a file. Resolves to its size. Throws `StoreUnavailableError` if the disk is full, and the errors of `chunks`. */
export async function receiveFile(path: string, chunks: AsyncIterable<Uint8Array>): Promise<number> {
  try {
    await pipeline(Readable.from(chunks), createWriteStream(path, { mode: 0o600 }))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOSPC')
      throw new StoreUnavailableError('the disk with the price files is full')
    throw error
  }
  return (await stat(path)).size
}
