import { chmodSync, type Dirent, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** Names that this app uses in `DATA_DIR`. */
const OURS = /^(store|sandbox(-\d+)?)\.sqlite|^secrets\.json|^imports$|^price-lists/
/** Names that say nothing about who uses the folder. */
const IGNORED = new Set(['lost+found', '.DS_Store', '.gitkeep'])

/**
 * Restricts `DATA_DIR` and the app's files in it to this user: folders 0700, files 0600. Does not change a folder that
 * contains other files; throws if other users can open it. Errors have one line and name `DATA_DIR`.
 */
export function protectDataDir(dataDir: string): void {
  // Windows has no file modes.
  if (process.platform === 'win32') return
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    const entries = readdirSync(dataDir, { withFileTypes: true })
    const unknownEntry = entries.find(({ name }) => !OURS.test(name) && !IGNORED.has(name))
    if (unknownEntry && accessOfOthers(dataDir) !== 0) {
      throw new Error(
        `other users can access this folder, and it contains other files (${unknownEntry.name}): use a separate folder, or run chmod 700 ${resolve(dataDir)}`,
      )
    }
    protect(dataDir, 0o700)
    for (const entry of entries) if (OURS.test(entry.name)) protectEntry(dataDir, entry)
  } catch (error) {
    throw new Error(`DATA_DIR: ${dataDir}: ${(error as Error).message}`)
  }
}

function protectEntry(folder: string, entry: Dirent): void {
  const path = join(folder, entry.name)
  if (entry.isFile()) protect(path, 0o600)
  if (!entry.isDirectory()) return
  protect(path, 0o700)
  for (const inner of readdirSync(path, { withFileTypes: true })) protectEntry(path, inner)
}

/** The mode bits of a path for group and others; 0 if it no longer exists, as other processes may delete files. */
const accessOfOthers = (path: string) => (statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077

function protect(path: string, mode: number): void {
  if (accessOfOthers(path) === 0) return
  try {
    chmodSync(path, mode)
  } catch {
    // Accept group access: a volume may belong to a group of the app's user.
    if ((accessOfOthers(path) & 0o007) === 0) return
    const command = `chmod ${mode.toString(8)} ${resolve(path)}`
    throw new Error(`other users can access ${path}, and this user cannot change its mode: run ${command}`)
  }
}
