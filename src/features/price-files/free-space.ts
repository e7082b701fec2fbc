import { statfsSync } from 'node:fs'

/** Disk space that price files must leave free, in bytes: the store may be on the same disk. */
const MIN_FREE_BYTES = 64_000_000

/** Whether the disk with this file or folder is almost full. Throws the errors of the file system. */
export function isDiskAlmostFull(path: string): boolean {
  const { bavail, bsize } = statfsSync(path)
  return bavail * bsize < MIN_FREE_BYTES
}
